import { z } from 'zod';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import type { Sessions } from '../../../sessions/sessions.ts';
import type { WaitingCall } from '../../../sessions/waiting.ts';
import { toRequest } from '../json-rpc.ts';
import type { RpcResponse } from '../json-rpc.ts';
import { findShown } from '../shown-session.ts';
import type { SessionReader } from '../shown-session.ts';
import type { McpChannel } from './call-progress.ts';

/** A request of the server to its client, by revisions of both generations. */
export interface Question {
  readonly method: 'elicitation/create';
  readonly params: object;
}

/** Questions by keys that are unique in their Session: a call may want its permission, and then its result. */
export type Questions = Readonly<Record<string, Question>>;

/** Characters of the input of a call that are shown. */
const MAX_INPUT_CHARS = 2_000;

/** True for capabilities of a client that shows forms; a bare `elicitation` means forms. */
export function takesForms(capabilities: unknown): boolean {
  const elicitation = isJsonObject(capabilities) ? capabilities['elicitation'] : undefined;
  return isJsonObject(elicitation) && ('form' in elicitation || !('url' in elicitation));
}

const keyOf = ({ id, answered_by: type }: WaitingCall): string => `${type}/${id}`;

/** What the Session waits for, as questions; none for a Session that waits for nothing. */
export async function questionsOf(
  sessions: Sessions,
  { organization, sessionId }: Record<'organization' | 'sessionId', string>,
): Promise<Questions> {
  const waiting = await sessions.waitingOf(await sessions.get(organization, sessionId));
  const asked = (waiting?.calls ?? []).map((call) => [keyOf(call), toQuestion(call)]);
  return Object.fromEntries(asked) as Questions;
}

function toQuestion(call: WaitingCall): Question {
  const [message, requestedSchema] = toForm(call);
  // Without `mode`, which revisions before 2025-11-25 do not know, it is a form.
  return { method: 'elicitation/create', params: { message, requestedSchema } };
}

function toForm({ name, server, input, answered_by: type }: WaitingCall): [string, object] {
  const own =
    server !== null && type === 'user.custom_tool_result' && upstream.safeParse(input).data;
  if (own) return [`The server ${server} asks: ${own.message}`, own.requested_schema];
  const given = JSON.stringify(input).slice(0, MAX_INPUT_CHARS);
  const call = `the tool ${name}${server === null ? '' : ` of the server ${server}`} with ${given}`;
  return type === 'user.tool_confirmation'
    ? [`The agent wants to call ${call}.`, toSchema(PERMISSION, 'decision')]
    : [`The agent calls ${call} and needs its result.`, toSchema(RESULT, 'result')];
}

const toSchema = (properties: object, required: string) => ({
  type: 'object',
  properties,
  required: [required],
});

const PERMISSION = {
  decision: { type: 'string', title: 'Decision', enum: ['allow', 'deny'] },
  reason: { type: 'string', title: 'Reason', description: 'Why not, for the agent.' },
};
const RESULT = { result: { type: 'string', title: 'Result' } };

/** The input of a call by which a server of the Agent asks a question of its own. */
const upstream = z.object({ message: z.string(), requested_schema: z.looseObject({}) });

const answered = z.discriminatedUnion('action', [
  z.object({ action: z.literal('accept'), content: z.looseObject({}) }),
  z.object({ action: z.literal('decline') }),
  z.object({ action: z.literal('cancel') }),
]);
const permission = z.object({ decision: z.enum(['allow', 'deny']), reason: z.string().optional() });
const result = z.object({ result: z.string() });

/** Undefined for what answers nothing: the question stays. Whatever is no consent is a refusal. */
function toInput(call: WaitingCall, answer: unknown): object | undefined {
  const given = answered.safeParse(answer).data;
  if (!given) return undefined;
  if (given.action === 'accept') return toConsent(call, given.content);
  const why = `The user ${given.action === 'decline' ? 'declined' : 'closed the question'}.`;
  if (call.answered_by === 'user.tool_confirmation')
    return { ...confirmationOf(call, 'deny'), deny_message: why };
  return resultOf(call, why, true);
}

function toConsent(call: WaitingCall, content: object): object | undefined {
  if (call.answered_by === 'user.tool_confirmation') {
    const { decision, reason } = permission.safeParse(content).data ?? {};
    if (!decision) return undefined;
    const why = decision === 'deny' && reason ? { deny_message: reason } : {};
    return { ...confirmationOf(call, decision), ...why };
  }
  if (call.server !== null) return resultOf(call, JSON.stringify(content), false);
  const text = result.safeParse(content).data?.result;
  return text === undefined ? undefined : resultOf(call, text, false);
}

const confirmationOf = ({ id, answered_by: type }: WaitingCall, decision: 'allow' | 'deny') => ({
  type,
  tool_use_id: id,
  result: decision,
});

function resultOf({ id, answered_by: type }: WaitingCall, text: string, isError: boolean): object {
  const named = type === 'user.custom_tool_result' ? 'custom_tool_use_id' : 'tool_use_id';
  return { type, [named]: id, content: [{ type: 'text', text }], is_error: isError };
}

/**
 * Hands answers to the calls that wait for them, on whichever process they arrive, each once: one that is
 * no answer to what the Session waits for changes nothing. Rejects with `StoreError`.
 *
 * @param answers by the keys of `Questions`
 * @throws GatewayError `not_found` for a Session that is not shown to the caller
 */
export async function takeAnswers(
  sessions: Sessions,
  caller: SessionReader,
  { sessionId, answers }: { sessionId: string; answers: Readonly<Record<string, unknown>> },
): Promise<void> {
  const waiting = await sessions.waitingOf(await findShown(sessions, caller, sessionId));
  for (const call of waiting?.calls ?? []) {
    const input = toInput(call, answers[keyOf(call)]);
    if (!input) continue;
    const sent = { events: [input], awaited: call.id };
    await sessions.send(caller.service.organization, sessionId, sent).catch((thrown: unknown) => {
      // Another answer came first, or the Session has ended.
      if (!(thrown instanceof GatewayError)) throw thrown;
    });
  }
}

/** Asks a client during its call. False: there was nothing to ask. */
export type Ask = () => Promise<boolean>;

/** Asks over the stream of a call; undefined for a client that takes no questions. */
export function askOver(
  { ask }: McpChannel,
  sessions: Sessions,
  place: Record<'organization' | 'sessionId', string>,
): Ask | undefined {
  if (!ask) return undefined;
  const asked = new Set<string>();
  return async () => {
    const questions = Object.entries(await questionsOf(sessions, place));
    for (const [key, { method, params }] of questions) {
      if (asked.has(key)) continue;
      asked.add(key);
      await ask(toRequest(`${place.sessionId}/${key}`, method, params));
    }
    return questions.length > 0;
  };
}

/** Takes the answer to a question of `askOver`; an error means that the client could not ask. */
export async function takeReply(
  { id, result: given = { action: 'decline' } }: RpcResponse,
  caller: SessionReader,
  sessions: Sessions,
): Promise<void> {
  const [sessionId, ...key] = typeof id === 'string' ? id.split('/') : [];
  if (sessionId === undefined || key.length === 0) return;
  const answers = { [key.join('/')]: given };
  await takeAnswers(sessions, caller, { sessionId, answers }).catch((thrown: unknown) => {
    // No Session of this caller.
    if (!(thrown instanceof GatewayError)) throw thrown;
  });
}
