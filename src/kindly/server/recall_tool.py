"""The tool `recall`, which several profiles offer: its arguments, its result and what it does."""

from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from kindly import pipeline
from kindly.clock import SYSTEM_CLOCK
from kindly.models import RecallScope
from kindly.server.arguments import Arguments, as_list, json_list, since_date
from kindly.server.json_schema import OBJECT, TEXT, TEXTS, array, record
from kindly.server.render.fence import new_fence
from kindly.server.render.findings import library_findings
from kindly.server.render.output import to_output
from kindly.server.tool import Call, Output, Tool

Count = Annotated[int, Field(ge=1, le=50)]
MaxTokens = Annotated[int | None, Field(ge=500, le=100_000)]
Question = Annotated[str, Field(min_length=1, max_length=2_000), WithJsonSchema(TEXT)]
Questions = Annotated[
    Question | Annotated[list[Question], Field(min_length=1, max_length=10), WithJsonSchema(TEXTS)],
    BeforeValidator(json_list),
]
Since = Annotated[str | None, Field(max_length=60), WithJsonSchema(TEXT | {"description": "Date"})]


class RecallArguments(Arguments):
    """Arguments of `recall`."""

    question: Questions
    collection: Annotated[str | None, Field(max_length=200), WithJsonSchema(TEXT)] = None
    site: Annotated[str | None, Field(max_length=253), WithJsonSchema(TEXT)] = None
    since: Since = None
    max_results: Count = 8
    max_tokens: MaxTokens = None


async def recall(call: Call, arguments: RecallArguments) -> Output:
    """The passages of stored pages that answer, or the closest."""
    since = since_date(arguments.since, SYSTEM_CLOCK.now())
    scope = RecallScope(arguments.collection or "", arguments.site or "", since)
    found = await pipeline.recall(
        call.app.stages, as_list(arguments.question), limit=arguments.max_results, scope=scope
    )
    tokens = call.app.tokens_for(arguments.max_tokens)
    return to_output(library_findings(found, new_fence(), tokens))


def recall_tool(title: str, description: str) -> Tool:
    """The tool in the words of a profile."""
    return Tool(
        name="recall",
        title=title,
        description=description,
        arguments=RecallArguments,
        output_schema=record({"findings": array(OBJECT)}),
        run=recall,
        open_world=False,
    )
