"""Resource use of the process, as far as the platform reports it."""

from pathlib import Path

from kindly.server.ops.process_stats import this_process


def test_memory_and_files_are_read_from_the_proc_folder(tmp_path: Path) -> None:
    (tmp_path / "statm").write_text("100 50 0 0 0 0 0", encoding="ascii")
    (tmp_path / "fd").mkdir()
    (tmp_path / "fd" / "0").touch()
    process = this_process(tmp_path)
    assert process.memory_bytes is not None
    assert process.memory_bytes % 50 == 0
    assert process.open_files == 1
    assert process.cpu_s > 0


def test_without_a_proc_folder_values_are_none(tmp_path: Path) -> None:
    process = this_process(tmp_path / "nowhere")
    assert (process.memory_bytes, process.open_files) == (None, None)
