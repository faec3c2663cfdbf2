import { setTimeout as sleep } from 'node:timers/promises';
import { findByEnvironment, readProcessTable } from '../../../src/runtime/reaper/process-table.ts';
import { HANG_MS } from '../caller.ts';
import type { Reply } from '../caller.ts';
import type { Recovery } from '../quiesce.ts';
import { heldUpMs } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { toProof } from './pages.ts';
import type { Proof } from './pages.ts';

/**
 * After a fault is mended, requests may fail for so long: 10 s until a silent database is noticed (a command
 * or the check of a new connection), 1 s until the next attempt, and 4 s for a machine that is busy.
 */
const SETTLING_MS = 15_000;
const ORPHANS_WITHIN_MS = 30_000;

/** The contract's words for what cannot be recorded, and what resources say while the store is away. */
const REFUSALS: Readonly<Record<string, readonly number[]>> = {
  chat: [500],
  // Other gateways know of a change within a second, and of a key mostly at once.
  'chat.new-key': [401, 500],
  'chat.limited': [402, 500],
  'chat.rest': [402, 500],
  // A call of that name is under way, or nobody can tell what came of it.
  named: [409, 500, 503],
  'chat.rated': [429, 500],
  'chat.revoked': [401, 500],
  'models.revoked': [401, 500, 503],
};
const RESOURCES = [500, 503];
const SHUTTING_DOWN = 'the gateway is shutting down';

/** Whatever failed said so, in time, while something was wrong. */
export function proveHonesty(stage: Stage): Proof {
  const faults: string[] = [];
  for (const reply of stage.journal.replies) {
    const fault = judge(stage, reply);
    if (fault !== undefined) {
      const { what, node, status, problem, sentAt, doneAt, body } = reply;
      const at = sentAt - stage.time.startedAt;
      const said = JSON.stringify(body).slice(0, 200);
      faults.push(
        `${what} ${node.name} at ${at} for ${doneAt - sentAt} ms: ${status} ${problem} ${said}: ${fault}`,
      );
    }
  }
  return toProof('every refusal is an honest one', stage.journal.replies.length, faults);
}

function judge(stage: Stage, reply: Reply): string | undefined {
  const { node, what, status, problem, sentAt, doneAt, body } = reply;
  const isDown = node.wasTroubled(sentAt - 1_000, doneAt, ['killed', 'paused']);
  if (doneAt - sentAt - heldUpMs(stage, reply) >= HANG_MS && !isDown) return 'it hangs';
  if (problem === 'left') return undefined;
  if (status === 0 || problem !== '')
    return isDown || (status > 0 && node.wasTroubled(sentAt - SETTLING_MS, doneAt))
      ? undefined
      : 'no whole answer';
  // Whether a gateway is ready is a question, not a refusal.
  if (status < 400 || what === 'look') return undefined;
  // Workers whose first process was killed drain and say so.
  if (isDown && node.hasWorkers && JSON.stringify(body).includes(SHUTTING_DOWN)) return undefined;
  const [family = ''] = what.split('.');
  const allowed = REFUSALS[what] ?? REFUSALS[family] ?? RESOURCES;
  if (!allowed.includes(status)) return 'not a refusal of this family';
  const isOwnFault = status >= 500 && !node.wasTroubled(sentAt - SETTLING_MS, doneAt);
  return isOwnFault ? 'nothing was wrong' : undefined;
}

export function proveRecovery(stage: Stage, { unquiet, readyMs }: Recovery): Proof {
  const crashes = stage.nodes.flatMap((node) => node.crashes);
  const title = `all gateways are ready again (after ${readyMs} ms), none ended by itself`;
  return toProof(title, stage.nodes.length, [...unquiet, ...crashes]);
}

/** Half of the gateways are stopped and half killed: nothing that they started is left. */
export async function proveNoOrphans(stage: Stage): Promise<Proof> {
  const faults: string[] = [];
  await Promise.all(
    stage.nodes.map(async (node, index) => {
      if (index % 2 === 1) {
        await node.kill();
        faults.push(...(await node.findOrphans()));
        return;
      }
      const code = await node.stop();
      if (code !== 0) faults.push(`${node.name} stopped with ${code}`);
    }),
  );
  let left: readonly { pid: number }[] = [];
  for (const end = Date.now() + ORPHANS_WITHIN_MS; Date.now() < end; await sleep(200)) {
    left = await findByEnvironment(await readProcessTable(), [`CHAOS_MARK=${stage.mark}`]);
    if (left.length === 0) break;
  }
  for (const { pid } of left) process.kill(pid, 'SIGKILL');
  faults.push(...left.map(({ pid }) => `process ${pid} was left`));
  return toProof('no process is left behind', stage.nodes.length, faults);
}
