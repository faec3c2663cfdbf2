import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeSegments } from '../../src/store/key-codec.ts';
import { toId } from '../../src/store/prepare-commit.ts';
import type { Key } from '../../src/store/store.ts';
import { createWatchers } from '../../src/store/watchers.ts';

const part = fc.constantFrom<string | number>(
  '',
  'a',
  'a\0',
  '\0',
  'ab',
  ' ',
  0,
  1,
  -1,
  2 ** -1022,
);
const key = fc.array(part, { maxLength: 3 });
const idOf = (one: Key): string => toId(encodeSegments(one));

it('wakes those who watch a key or a beginning of it, and nobody else', async () => {
  const some = fc.array(key, { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(some, some, key, async (stay, leave, changed) => {
      const watchers = createWatchers();
      const woken: Key[] = [];
      const left = leave.map((one) => watchers.add(one, () => woken.push(['left'])));
      for (const one of stay) watchers.add(one, () => woken.push(one));
      for (const end of left) end();
      watchers.changed(idOf(changed));
      await nextTurn();
      const isBeginning = (one: Key) => one.every((segment, index) => segment === changed[index]);
      expect(woken.map(idOf).toSorted()).toEqual(stay.filter(isBeginning).map(idOf).toSorted());
    }),
  );
});
