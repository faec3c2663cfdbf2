import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../../client/create-client.ts';
import type { ResourceView } from '../../client/admin.ts';
import { isRecord } from '../../client/http/guards.ts';
import { cronFault, isTimeZone, upcomingInstants } from '../../core/time/cron.ts';
import type { CommandContext } from '../context.ts';
import type { Finding } from './health-checks.ts';

const TIMEOUT_MS = 5_000;

/**
 * Schedules that are silent because their next instants have run already: a clock that was ahead fired
 * them. None without the admin key of the gateway, or when it does not answer.
 */
export async function checkSchedules(
  { baseUrl, dataDir }: { readonly baseUrl: string; readonly dataDir: string },
  { io, clock, signal }: CommandContext,
): Promise<Finding[]> {
  try {
    const apiKey = (await readFile(join(dataDir, 'admin.key'), 'utf8')).trim();
    const http = { baseUrl, apiKey, clock, fetch: io.fetch, timeoutMs: TIMEOUT_MS };
    const client = createClient({ ...http, retry: { maxAttempts: 1 } });
    const findings: Finding[] = [];
    for await (const view of client.admin('deployments').list({}, signal)) {
      const finding = findingOf(view, clock.now());
      if (finding) findings.push(finding);
    }
    return findings;
  } catch {
    return [];
  }
}

function findingOf({ id, name, status, schedule }: ResourceView, now: number): Finding | undefined {
  if (status !== 'active' || !isRecord(schedule)) return undefined;
  const { expression, timezone, upcoming_runs_at: upcoming, last_run_at: last } = schedule;
  const next = Array.isArray(upcoming) ? upcoming[0] : undefined;
  if (typeof expression !== 'string' || typeof timezone !== 'string' || typeof next !== 'string')
    return undefined;
  if (cronFault(expression) !== undefined || !isTimeZone(timezone)) return undefined;
  const [own] = upcomingInstants({ expression, timezone }, now, 1);
  if (own === undefined || own >= Date.parse(next)) return undefined;
  const silentFor = `its run of ${new Date(own).toISOString()} was made while the clock was ahead`;
  return {
    name: `schedule ${name === '' ? id : name}`,
    state: 'warn',
    message: `silent until ${next}: ${silentFor}; its last run is in the future (created ${String(last)})`,
    hint: `no instant runs twice; POST /v1/deployments/${id}/run runs it now`,
  };
}
