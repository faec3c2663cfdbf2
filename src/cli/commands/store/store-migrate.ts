import { migrateStore } from '../../../store/raw/migrate-store.ts';
import { LEASES } from '../../../usage/ledger/ledger-keys.ts';
import { usageError } from '../../cli-error.ts';
import { toStorePlace, type StorePlace } from '../../local/store-place.ts';
import { storeWork, toMiB } from '../../local/store-work.ts';
import type { InputOf, RunOf } from '../../commands.ts';

export const run: RunOf<'store migrate'> = async (input) => {
  const { clock, io, output } = input.context;
  const [from, to] = [await placeOf('from', input), await placeOf('to', input)];
  const { rows, bytes, checksum } = await migrateStore({
    ...storeWork(input),
    from: from.config,
    to: to.config,
    clock,
    leases: LEASES,
    onCopied: () => void (io.stderr.isTTY === true && output.note('copied; comparing')),
  });
  return {
    data: { from: from.shown, to: to.shown, rows, bytes, checksum, setting: to.setting ?? null },
    text: [
      `${rows} rows, ${toMiB(bytes)} MiB, are the same in ${from.shown} and ${to.shown}`,
      ...nextSteps(to),
    ].join('\n'),
  };
};

async function placeOf(
  name: 'from' | 'to',
  { flags, context }: InputOf<'store migrate'>,
): Promise<StorePlace> {
  const text = flags[name];
  if (text === undefined) throw usageError(`--${name} is missing`, 'name both stores');
  return toStorePlace(text, context);
}

function nextSteps({ setting }: StorePlace): string[] {
  const keys = 'Keep the master key: what is sealed in the store stays sealed under it.';
  if (setting === undefined) return [keys];
  return ['In gateway.yaml:', '  server:', `    store: ${setting}`, keys];
}
