// `npm run chaos`: gateways of the built binary on a real store, under load and faults, and what can be
// proven from outside afterwards. Options: --backend lmdb,redis,postgres, --seconds N (of load, each),
// --seed N, --processes N, --workers N (of each gateway), --rate N (how fast time goes on for the gateways),
// --real-time (the machine's own), --ledger MODE (default: another one for each store), --json.
import { parseArgs } from 'node:util';
import { toText } from './report.ts';
import { hasFailed, runChaos } from './run-chaos.ts';
import type { LedgerMode } from './stage.ts';

/** Each kind of fault happens once in so many seconds. */
const ROUND_SECONDS = 30;
const LEDGER_MODES: readonly LedgerMode[] = ['before_call', 'auto', 'during_call'];

const { values } = parseArgs({
  options: {
    backend: { type: 'string', default: 'lmdb,redis,postgres' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    processes: { type: 'string', default: '3' },
    workers: { type: 'string', default: '1' },
    rate: { type: 'string', default: '4' },
    ledger: { type: 'string' },
    'real-time': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

process.setMaxListeners(0);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
const seconds = Number(values.seconds);
const results = [];
for (const [index, backend] of values.backend.split(',').entries()) {
  const mode = LEDGER_MODES[(Number(values.seed) + index) % LEDGER_MODES.length] as LedgerMode;
  const result = await runChaos({
    backend,
    seconds,
    seed: Number(values.seed),
    processes: Number(values.processes),
    workers: [Number(values.workers)],
    rate: values['real-time'] ? 1 : Number(values.rate),
    ledger: (values.ledger as LedgerMode | undefined) ?? mode,
    onPhase: (phase) => void process.stderr.write(`${backend}: ${phase}\n`),
    rounds: Math.max(1, Math.round(seconds / ROUND_SECONDS)),
    kills: 2,
  });
  if (!result) console.error(`${backend} is not installed here`);
  else {
    results.push(result);
    if (!values.json) console.log(toText(result));
  }
}
if (values.json) console.log(JSON.stringify(results, null, 2));
process.exit(results.some(hasFailed) || results.length === 0 ? 1 : 0);
