from kindly.version import REPOSITORY, SERVER_NAME, how_to_install, pip_command, uvx_command


def test_commands_name_the_extra_and_where_it_is_from() -> None:
    assert uvx_command("ocr") == (
        f"uvx --from '{SERVER_NAME}[ocr] @ git+{REPOSITORY}' {SERVER_NAME} start-mcp-server"
    )
    assert pip_command("ocr") == f"pip install '{SERVER_NAME}[ocr]'"


def test_both_ways_to_install_are_in_the_sentence() -> None:
    said = how_to_install("ocr")
    assert uvx_command("ocr") in said
    assert pip_command("ocr") in said
