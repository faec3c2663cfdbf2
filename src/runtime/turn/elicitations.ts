import { isJsonObject } from '../../core/json/value.ts';
import type { NewEvent, SessionEvent } from '../../sessions/log/session-event.ts';
import type { ToolAnswers, ToolQuestions } from '../tools/tool-server.ts';
import type { AskedQuestion, ToolResult, ToolUse } from '../tools/tool-use.ts';

/** Name of the calls by which the client is asked what an MCP server wants to know. */
const NAME = 'mcp_elicitation';

/** The questions of a server about a call, each answered as a custom tool is. */
export function toQuestionEvents(
  { id, server }: ToolUse,
  { questions, resume }: ToolQuestions,
): NewEvent[] {
  // The state of the call may be large: it is in the log once.
  return questions.map(({ key, message, schema }, index) => ({
    type: 'agent.custom_tool_use',
    name: NAME,
    input: { message, requested_schema: schema },
    mcp_server_name: server,
    mcp_tool_use_id: id,
    mcp_elicitation: { key, ...(index === 0 && { state: resume }) },
  }));
}

/** Adds a question to the call that it is about; those of an earlier round are answered and over. */
export function addQuestion(use: ToolUse, event: SessionEvent): void {
  const { id, input, mcp_elicitation: details } = event;
  const { requested_schema: schema } = isJsonObject(input) ? input : {};
  const { key, state } = isJsonObject(details) ? details : {};
  const open = (use.questions ?? []).every(({ result }) => result) ? [] : (use.questions ?? []);
  const question: AskedQuestion = {
    id,
    key: String(key),
    schema: isJsonObject(schema) ? schema : {},
    resume: typeof state === 'string' ? state : undefined,
    result: undefined,
  };
  use.questions = [...open, question];
}

/** Answers to the questions of a call in the form of MCP; undefined for a call without any. */
export function answersOf({ questions = [] }: ToolUse): ToolAnswers | undefined {
  const resume = questions[0]?.resume;
  if (resume === undefined) return undefined;
  const responses = questions.map(({ key, schema, result }) => [key, toResponse(schema, result)]);
  return {
    responses: Object.fromEntries(responses) as object as ToolAnswers['responses'],
    resume,
  };
}

/**
 * The text of a result is the JSON of the form, or the value of its one member. Without a value for the form it
 * is closed unanswered; an error declines it.
 */
function toResponse(schema: AskedQuestion['schema'], result: ToolResult | undefined): object {
  if (!result || result.isError) return { action: 'decline' };
  const text = result.content
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim();
  const value = parse(text);
  if (isJsonObject(value)) return { action: 'accept', content: value };
  const members = Object.entries(isJsonObject(schema['properties']) ? schema['properties'] : {});
  if (members.length === 0) return { action: 'accept', content: {} };
  const [[name, member] = ['', {}]] = members;
  if (members.length > 1) return { action: 'cancel' };
  const isText = !isJsonObject(member) || member['type'] === 'string';
  return { action: 'accept', content: { [name]: isText ? text : value } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
