"""SmolLM2-135M as a model with a multi-token prediction head, in the form that vLLM calls MiMo.

    python smollm.py build GGUF PROJECTION FOLDER
    python smollm.py fit GGUF PROJECTION

`build` keeps the weights, so the text is SmolLM2's own, and adds one prediction layer whose
transformer block is the identity; all it predicts comes from the projection of (hidden state,
embedding of the next token). `fit` makes that projection: ridge regression on the hidden states
of some English text, in closed form.
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

HEAD = "model.mtp_layers.0."
PROJECTION = "input_proj.weight"
TOKENS = 24 * 1024
BLOCK = 512
RIDGE = 50.0
HELD_OUT = 0.1


def load(gguf):
    """The model in bfloat16 and its tokenizer. The file's weights must be unpacked to be saved."""
    folder, name = str(gguf.parent), gguf.name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    model = AutoModelForCausalLM.from_pretrained(
        folder,
        gguf_file=name,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
    )
    return model.eval(), tokenizer


def build(gguf, projection, folder):
    model, tokenizer = load(gguf)
    folder.mkdir(parents=True, exist_ok=True)
    weights = with_head(model, load_file(projection)[PROJECTION])
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config_of(model), indent=1))
    model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def with_head(model, projection):
    """SmolLM2's weights by their names, zero biases as MiMo wants them, and the head."""
    weights = {name: weight.contiguous() for name, weight in model.state_dict().items()}
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()
    last = f"model.layers.{model.config.num_hidden_layers - 1}."
    for name in [name for name in weights if name.startswith(last)]:
        weights[HEAD + name.removeprefix(last)] = weights[name].clone()
    for name in [
        name
        for name in weights
        if name.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight"))
    ]:
        weights[name.replace("weight", "bias")] = torch.zeros(
            weights[name].shape[0], dtype=torch.bfloat16
        )
    for name in ("self_attn.o_proj.weight", "mlp.down_proj.weight"):
        weights[HEAD + name].zero_()
    ones = torch.ones(model.config.hidden_size, dtype=torch.bfloat16)
    weights[f"{HEAD}token_layernorm.weight"] = ones
    weights[f"{HEAD}hidden_layernorm.weight"] = ones.clone()
    weights[f"{HEAD}final_layernorm.weight"] = weights["model.norm.weight"].clone()
    weights[HEAD + PROJECTION] = projection.to(torch.bfloat16)
    return weights


def config_of(model):
    """vLLM goes by the architecture; transformers knows no `mimo`, but what it is made of."""
    config = model.config.to_dict()
    for foreign in ("mlp_bias", "pretraining_tp", "quantization_config", "_name_or_path"):
        config.pop(foreign, None)
    return {
        **config,
        "architectures": ["MiMoForCausalLM"],
        "model_type": "qwen2",
        "num_nextn_predict_layers": 1,
        "tie_word_embeddings": False,
        "attention_bias": True,
        "use_sliding_window": False,
        "sliding_window": None,
        "max_window_layers": config["num_hidden_layers"],
        "dtype": "bfloat16",
    }


def fit(gguf, projection):
    model, tokenizer = load(gguf)
    embeddings = model.get_input_embeddings().weight.detach().float()
    inputs, outputs = [], []
    for block in torch.tensor(tokens(tokenizer)).split(BLOCK):
        hidden = hidden_states(model, block)
        inputs.append(torch.cat([scaled(hidden[:-1]), scaled(embeddings[block][1:])], -1))
        outputs.append(scaled(hidden[1:]))
    known, wanted = torch.cat(inputs), torch.cat(outputs)
    split = int(len(known) * (1 - HELD_OUT))
    gram = known[:split].T @ known[:split] + RIDGE * torch.eye(known.shape[1])
    solved = torch.linalg.solve(gram, known[:split].T @ wanted[:split]).T
    weight = model.model.norm.weight.detach().float()
    guessed = (scaled(known[split:] @ solved.T) * weight) @ embeddings.T
    truth = (wanted[split:] * weight) @ embeddings.T
    agreement = (guessed.argmax(-1) == truth.argmax(-1)).float().mean().item()
    sys.stdout.write(f"held-out agreement {agreement:.3f} on {len(guessed)} tokens\n")
    save_file({PROJECTION: solved.to(torch.bfloat16).contiguous()}, projection)


def tokens(tokenizer):
    """English text that comes with every Python: the help pages of the language."""
    from pydoc_data.topics import topics

    return tokenizer("\n".join(topics.values())[:200_000])["input_ids"][:TOKENS]


def hidden_states(model, block):
    """What enters the model's last norm: vLLM hands exactly this to the head."""
    seen = []
    hook = model.model.norm.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    with torch.no_grad():
        model.model(block[None])
    hook.remove()
    return seen[0][0].float()


def scaled(values):
    return values * torch.rsqrt((values * values).mean(-1, keepdim=True) + 1e-5)


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    {"build": build, "fit": fit}[command](*map(Path, paths))
