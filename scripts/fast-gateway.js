// The built gateway on a clock that runs twenty times as fast, for the demo: a minute takes three seconds.
import { nodeConfigFiles } from '../dist/config/read/load.js';
import { loadConfig } from '../dist/config/read/load-config.js';
import { systemClock } from '../dist/core/time/clock.js';
import { createLog } from '../dist/core/log.js';
import { convergeConfig } from '../dist/server/process/converge-config.js';
import { firstStart, writeRuntime } from '../dist/server/process/first-start.js';
import { openConfigured, serveGateway } from '../dist/server/process/serve-gateway.js';

const SPEED = 20;
const startedAt = Date.now();
const elapsed = () => performance.now() * SPEED;
const clock = {
  now: () => Math.floor(startedAt + elapsed()),
  monotonic: elapsed,
  setTimeout: (fn, ms) => systemClock.setTimeout(fn, ms / SPEED),
};

const { config, diagnostics } = await loadConfig({
  paths: ['gateway.yaml'],
  env: {},
  cwd: process.cwd(),
});
if (!config) throw new Error(JSON.stringify(diagnostics));
const log = createLog({
  clock,
  ...config.server.log,
  write: (text) => void process.stderr.write(text),
});
const sources = { env: {}, files: nodeConfigFiles };
const gateway = await openConfigured(config, { clock, log, sources });
await firstStart(gateway.repository, config.server);
await convergeConfig(gateway, config, sources);
const serving = await serveGateway(gateway, config.server, clock);
await writeRuntime(config.server.dataDir, serving.url);
process.stderr.write(`gateway listening on ${serving.url}\n`);
await new Promise((resolve) => process.once('SIGTERM', resolve));
await serving.stop();
await gateway.close();
