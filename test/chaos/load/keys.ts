import { isOk } from '../journal.ts';
import type { MadeKey } from '../journal.ts';
import { ask, askAdmin } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { chat } from './chats.ts';
import { repeat } from './repeat.ts';

const MAKE_EVERY_MS = 500;
const PROBE_EVERY_MS = 60;
/** The keys that were revoked last are asked for. */
const RECENT = 4;

/** Keys are made, used, and revoked; those revoked are tried again and again. */
export function startKeys(stage: Stage, until: AbortSignal): Promise<void>[] {
  return [
    repeat(stage, { until, everyMs: MAKE_EVERY_MS, work: () => liveOf(stage) }),
    repeat(stage, { until, everyMs: PROBE_EVERY_MS, work: () => probe(stage) }),
  ];
}

async function liveOf(stage: Stage): Promise<void> {
  const { journal } = stage;
  const name = `key ${journal.newMark('k')}`;
  const made = await askAdmin(stage, ['key.create', 'POST /admin/v1/keys'], { body: { name } });
  if (!isOk(made)) return;
  const key: MadeKey = { id: made.body.id, value: made.body.value };
  journal.keys.push(key);
  await chat(stage, { key, what: 'chat.new-key' });
  key.isRevocationSent = true;
  const revoked = await askAdmin(stage, ['key.revoke', `POST /admin/v1/keys/${key.id}/revoke`]);
  if (isOk(revoked)) key.revokedAt = revoked.doneAt;
}

async function probe(stage: Stage): Promise<void> {
  const { journal, random } = stage;
  const revoked = journal.keys.filter(({ revokedAt }) => revokedAt !== undefined);
  if (revoked.length === 0) return;
  const key = random.pick(random.next() < 0.8 ? revoked.slice(-RECENT) : revoked);
  const reply =
    random.next() < 0.7
      ? await chat(stage, { key, what: 'chat.revoked' })
      : await ask(stage, ['models.revoked', 'GET /v1/models'], { key: key.value });
  journal.probes.push({ key, reply });
}
