import { expect, it } from 'vitest';
import type { Changes } from '../../../src/resources/changes/change-log.ts';
import { HeldUpdates } from '../../../src/resources/changes/held-updates.ts';

const row = (id: string) => ({ kind: 'model', id });

function setUp() {
  const told: Changes[] = [];
  let failure: Error | undefined;
  const updates = new HeldUpdates(async (changes) => {
    if (failure) throw failure;
    told.push(changes);
  });
  return { updates, told, failWith: (error?: Error) => void (failure = error) };
}

it('passes each change on where nobody holds them', async () => {
  const { updates, told } = setUp();
  await updates.take([row('a')]);
  await updates.take('everything');
  expect(told).toEqual([[row('a')], 'everything']);
});

it('tells of all that came during the work in one step, the work being done or failed', async () => {
  const { updates, told } = setUp();
  const both = updates.during(async () => {
    await updates.take([row('a')]);
    await updates.during(() => updates.take([row('b')]));
    expect(told).toEqual([]);
    throw new Error('half way');
  });
  await expect(both).rejects.toThrow('half way');
  expect(told).toEqual([[row('a'), row('b')]]);
});

it('keeps what an update failed at for the next one', async () => {
  const { updates, told, failWith } = setUp();
  failWith(new Error('no store'));
  await expect(updates.take([row('a')])).rejects.toThrow('no store');
  failWith();
  await updates.take([row('b')]);
  expect(told).toEqual([[row('a'), row('b')]]);
});
