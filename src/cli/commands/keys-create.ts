import { usageError } from '../cli-error.ts';
import { oneLine } from '../../core/printable.ts';
import type { CommandInput, CommandRun, Flags } from '../command.ts';

/** The value goes to stdout alone, so that `KEY=$(gateway keys create app)` works. */
export const run: CommandRun = async ({ args, flags, context }) => {
  const body = toKeyBody({ args, flags, now: context.clock.now() });
  const client = await context.connect();
  const key = await client.admin('keys').create(body, context.signal);
  context.output.note(`key ${oneLine(key.name)} (${key.id}) created; its value is shown only now`);
  return { data: key, text: String(key['value']) };
};

interface KeyInput extends Pick<CommandInput, 'args' | 'flags'> {
  now: number;
}

function toKeyBody({ args, flags, now }: KeyInput): Record<string, unknown> {
  const name = args['name'] ?? flags.text('name');
  if (name === undefined) throw usageError('the key needs a name', 'gateway keys create <name>');
  const given = {
    name,
    organization: flags.text('organization'),
    scopes: listOrNothing(flags.list('scope')),
    rpm_cap: flags.number('rpm-cap'),
    concurrency_cap: flags.number('concurrency-cap'),
    spending_limit: spendingLimit(flags),
    expires_at: expiry(flags, now),
    allowed_models: listOrNothing(flags.list('allowed-model')),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function listOrNothing(items: readonly string[]): readonly string[] | undefined {
  return items.length === 0 ? undefined : items;
}

function spendingLimit(flags: Flags): Record<string, string> | undefined {
  const windows = {
    lifetime: 'spending-limit',
    day: 'spending-limit-day',
    month: 'spending-limit-month',
  };
  const limits: Record<string, string> = {};
  for (const [window, flag] of Object.entries(windows)) {
    const text = flags.text(flag);
    if (text === undefined) continue;
    if (!/^\d{1,12}(\.\d{1,9})?$/.test(text))
      throw usageError(`--${flag} must be an amount such as 5 or 2.50`);
    limits[window] = text;
  }
  return Object.keys(limits).length === 0 ? undefined : limits;
}

function expiry(flags: Flags, now: number): string | undefined {
  const at = flags.text('expires-at');
  const after = flags.number('expires-in');
  if (at !== undefined && after !== undefined) {
    throw usageError('--expires-at and --expires-in exclude each other');
  }
  if (after !== undefined) return new Date(now + after).toISOString();
  if (at === undefined) return undefined;
  if (Number.isNaN(Date.parse(at))) throw usageError(`--expires-at must be a time, not "${at}"`);
  return new Date(at).toISOString();
}
