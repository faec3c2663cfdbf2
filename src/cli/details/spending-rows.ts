import { ClientError } from '../../client/http/client-error.ts';
import { isRecord } from '../../client/http/guards.ts';
import type { Client } from '../../client/create-client.ts';

type View = Readonly<Record<string, unknown>>;

/** The view with the spending and the last use; unchanged if the gateway does not report them. */
export async function addSpending(
  client: Client,
  view: View,
  { kind, signal }: { kind: 'key' | 'organization'; signal: AbortSignal },
): Promise<View> {
  const id = String(view['id']);
  try {
    const of = kind === 'key' ? { key: id } : { organization: id };
    return { ...view, ...(await client.usage.spending(of, signal)) };
  } catch (thrown) {
    const isUntold = thrown instanceof ClientError && isOlder(thrown);
    if (isUntold) return view;
    throw thrown;
  }
}

/** True for the answer of a gateway that has no such report. */
function isOlder({ status, code }: ClientError): boolean {
  return status === 404 || code === 'invalid_response';
}

/** Rows for people: `1.20 of 5.00` for each window, and one last use. */
export function toSpendingRows(view: View): View {
  const { spent, spending_limit: limit, last_used_at: at, last_used_on: on, ...rest } = view;
  if (!isRecord(spent)) return view;
  const limits = isRecord(limit) ? limit : {};
  const windows = Object.entries(spent).map(([window, amount]) => {
    const most = limits[window];
    const text = typeof most === 'string' ? `${String(amount)} of ${most}` : String(amount);
    return [window, text] as const;
  });
  return {
    ...rest,
    spent: Object.fromEntries(windows),
    last_used: at ?? on ?? 'never',
  };
}
