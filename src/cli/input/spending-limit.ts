import { isRecord } from '../../client/http/guards.ts';

/** `10.00 in all, 1.00 a day`; undefined without a limit. */
export function spendingText(limit: unknown): string | undefined {
  if (!isRecord(limit)) return undefined;
  const windows = [
    ['lifetime', 'in all'],
    ['day', 'a day'],
    ['month', 'a month'],
  ] as const;
  const parts = windows.flatMap(([name, words]) => {
    const value = limit[name];
    return typeof value === 'string' ? [`${value} ${words}`] : [];
  });
  return parts.length === 0 ? undefined : parts.join(', ');
}
