"""A training configuration says what it means, or is refused before anything is touched."""

from __future__ import annotations

import pytest

from graphsr.errors import InputError
from graphsr.training.config import DataSet, presets, read_config


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
        guess = true
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
        ("[optimisation]\nlerning_rate = 1", "unknown key 'lerning_rate'; did you mean 'learning_rate'"),
        ("[model]\nfeatures = 'many'", "features must be int"),
        ("[model]\nguess = 1", "guess must be bool"),
        ("[data]\nsets = 'nyuv2'", "sets must be a list"),
        ("[data]\nsets = [{ folder = 'x' }]", "kind"),
        ("[data]\nsets = []", r"data\.sets is empty"),
        ("[data]\nsets = [{kind='synthetic'}]\n[optimisation]\nloss = 'l3'", "loss must be"),
        ("[data]\nsets = [{kind='synthetic'}]\n[optimisation]\nsteps = 0", "steps must be positive"),
        ("[data]\nsets = [{kind='synthetic'}]\n[factors]\nleast = 0.5", "factors must be at least 1"),
        ("model = 3", "expected a table"),
        ("[model", "cannot be read as TOML"),
    ],
)
def test_mistakes_are_named(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        read_config(written(tmp_path, text))


def test_a_name_that_is_neither_file_nor_preset_is_told_the_presets():
    with pytest.raises(InputError, match=r"presets are .*bundled"):
        read_config("bundeld")
