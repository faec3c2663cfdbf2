import { stringifyWithRaw } from '../../core/json/raw.ts';
import { isRecord } from '../../client/http/guards.ts';
import type { SessionEvent } from '../../sessions/log/session-event.ts';
import type { FlagValues } from '../grammar/flags.ts';
import type { TYPE } from '../tables/session-commands.ts';
import { oneLine, printable } from '../../core/printable.ts';

const MAX_DETAIL = 200;

/** The values of --type, each one or several separated by commas; none given: every type. */
export function typesOf(flags: FlagValues<readonly [typeof TYPE]>): readonly string[] | undefined {
  const types = flags.type.flatMap((value) => value.split(','));
  const named = types.map((type) => type.trim()).filter((type) => type !== '');
  return named.length === 0 ? undefined : named;
}

/** `<time>  <type>  <what it says>` on one line; more lines of a text are indented below. */
export function eventLine(event: SessionEvent): string {
  const { processed_at: at, type } = event;
  const detail = printable(detailOf(event)).trimEnd().replaceAll('\n', '\n  ');
  return [oneLine(at), oneLine(type), detail].filter((part) => part !== '').join('  ');
}

function detailOf({ content, error, stop_reason: stop, name, input }: SessionEvent): string {
  if (isRecord(error)) return String(error['message'] ?? error['type']);
  if (isRecord(stop)) return stopText(stop);
  if (typeof name === 'string') return clip(`${name} ${stringifyWithRaw(input ?? {})}`);
  if (!Array.isArray(content)) return '';
  return content
    .filter(isRecord)
    .map(({ type, text }) => (typeof text === 'string' ? text : `[${String(type)}]`))
    .join('');
}

/** `requires_action: sevt_1`: the calls that wait are part of the reason. */
function stopText({ type, event_ids: ids }: Readonly<Record<string, unknown>>): string {
  return Array.isArray(ids) ? `${String(type)}: ${ids.map(String).join(', ')}` : String(type);
}

function clip(text: string): string {
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}…` : text;
}
