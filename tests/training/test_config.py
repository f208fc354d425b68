"""A training configuration says what it means, or is refused before anything is touched."""

from __future__ import annotations

import pytest

from graphsr.baselines import METHODS
from graphsr.errors import InputError
from graphsr.training.config import Config, at_factor, for_steps, presets, read_config
from graphsr.training.sections import Data, DataSet, Optimisation, Validation

SYNTHETIC = "[data]\nsets = [{kind='synthetic'}]\n"


def written(tmp_path, text):
    path = tmp_path / "config.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_valid(name):
    config = read_config(name)
    assert config.data.sets
    assert config.validation.sets


def test_what_is_written_is_what_is_read(tmp_path):
    text = """
        pretrained = false
        [model]
        extractor = "unet-lite0"
        decoder_channels = [8, 8, 8, 8, 8]
        [data]
        sets = [{ kind = "synthetic", share = 2 }]
        [optimisation]
        learning_rate = 1e-3
    """
    config = read_config(written(tmp_path, text))
    assert config.pretrained is False
    assert config.model.decoder_channels == (8, 8, 8, 8, 8)
    assert config.data.sets == (DataSet("synthetic", share=2.0),)
    assert config.optimisation.learning_rate == 1e-3
    assert config.optimisation.batch == 8  # the default


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[optimisation]\nlerning_rate = 1", "unknown key 'lerning_rate'; did you mean learning_rate"),
        ("[model]\nfeatures = 'many'", "features must be int"),
        ("[model]\nhints = 1", "hints must be bool"),
        ("[data]\nsets = 'nyuv2'", "sets must be a list"),
        ("[data]\nsets = [{ folder = 'x' }]", "kind"),
        ("[data]\nsets = []", r"data\.sets is empty"),
        ("[data]\nsets = [{kind='synthetic'}]\n[optimisation]\nloss = 'l3'", "loss must be"),
        ("[data]\nsets = [{kind='synthetic'}]\n[optimisation]\nsteps = 0", "steps must be positive"),
        ("[data]\nsets = [{kind='synthetic'}]\n[factors]\nleast = 0.5", "factors must be at least 1"),
        (SYNTHETIC + "[optimisation]\nrtol = 0", "rtol between 0 and 1"),
        (SYNTHETIC + "[optimisation]\nloss = 'noise'", "loss = 'noise' is for graph models that predict it"),
        (SYNTHETIC + "[factors]\nleast = 4\nmost = 300", r"data\.size must be at least 600 at x300"),
        (SYNTHETIC + "[validation]\nfactors = [1]\nsets = [{kind='synthetic'}]", "factors above 1"),
        (SYNTHETIC + "[model]\nfirst_mu = 0", r"config\.toml: \[model\]: GraphSR: first_lambda and first_mu must"),
        (SYNTHETIC + "[model]\nfloor = 2.0", "floor must lie in"),
        (SYNTHETIC + "[optimisation]\nlearning_rate = nan", "learning_rate must be positive"),
        (SYNTHETIC + "[schedule]\nwarm_up = -5", "warm_up, every and end must be 0 or more"),
        ("start = 'default'\npretrained = 'a.pth'\n" + SYNTHETIC, "exclude each other"),
        ("model = 3", "expected a table"),
        ("method = 'fdrs'\n" + SYNTHETIC, "method 'fdrs': no method is called so; did you mean fdsr"),
        ("method = 'pixtransform'\n" + SYNTHETIC, "method 'pixtransform': is not trained in advance"),
        ("method = 'fdsr'\n" + SYNTHETIC + "[model]\nfeatures = 8", "exclude each other"),
        ("method = 'fdsr'\n" + SYNTHETIC + "[diffusion]\nsteps = 8", "is for method = 'dada' alone"),
        (SYNTHETIC + "[diffusion]\nsteps = 8", "is for method = 'dada' alone"),
        (SYNTHETIC + "[degradation]\nclean = 2", r"config\.toml: degradation: clean must be between 0 and 1"),
        (SYNTHETIC + "[validation]\ndegraded = ['nose=1']", "unknown key 'nose'; did you mean noise"),
        ("[data]\nsets = [{kind='synthetic', share=0}]", "shares must not all be 0"),
        ("[data]\nsets = [{kind='synthetic', share=-1}]", r"sets\[0\]: share must be 0 or more"),
        ("method = 'dada'\n" + SYNTHETIC + "[diffusion]\ntracked_steps = 0", "tracked_steps at least 1"),
        (
            "method = 'msg-net'\n" + SYNTHETIC + "[factors]\nleast = 4",
            "for one factor, 2, 4, 8, 16, but .* 4 to 8",
        ),
        ("method = 'msg-net'\n" + SYNTHETIC + "[factors]\nleast = 3\nmost = 3", "trained for one factor"),
        ("method = 'msg-net'\n[data]\nsize = 60\nsets = [{kind='synthetic'}]", "60 is no multiple of the factor 8"),
        (
            "method = 'pmbanet'\n" + SYNTHETIC + "[validation]\nsets = [{kind='synthetic'}]",
            "be validated at x4, x8",
        ),
        ("[model", "cannot be read as TOML"),
    ],
)
def test_mistakes_are_named(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        read_config(written(tmp_path, text))


def test_what_is_made_in_python_is_checked_too():
    synthetic = Data(sets=(DataSet("synthetic"),))
    for make in (
        lambda: Config(),
        lambda: Optimisation(steps=0),
        lambda: Validation(factors=()),
        lambda: at_factor(Config(data=synthetic), 300.0),
    ):
        with pytest.raises(InputError):
            make()


def test_a_name_that_is_neither_file_nor_preset_is_told_the_presets():
    with pytest.raises(InputError, match=r"no preset of this name; known are .*bundled"):
        read_config("nothing like it")


def test_every_learned_method_has_a_preset_of_its_name():
    learned = {method.name for method in METHODS.values() if method.learned}
    assert learned <= set(presets())
    assert all(read_config(name).method == name for name in learned)


def test_a_preset_can_be_for_another_factor():
    config = at_factor(read_config("msg-net"), 4.0)
    assert (config.factors.least, config.factors.most, config.validation.factors) == (4.0, 4.0, (4.0,))


def test_a_schedule_is_stretched_with_the_steps():
    long = read_config("bundled")
    short = for_steps(long, long.optimisation.steps // 10)
    assert short.schedule.end == long.schedule.end // 10
    assert short.schedule.warm_up == long.schedule.warm_up // 10
    assert short.schedule.every == 0  # as it was
