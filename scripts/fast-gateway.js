// The gateway on a clock that runs twenty times as fast, for the demo: a minute takes three seconds.
// From its sources, for the build offers no part of it that takes a clock.
import { register } from 'tsx/esm/api';

register();
const { nodeConfigFiles } = await import('../src/config/read/load.ts');
const { loadConfig } = await import('../src/config/read/load-config.ts');
const { systemClock } = await import('../src/core/time/clock.ts');
const { createLog } = await import('../src/core/log.ts');
const { convergeConfig } = await import('../src/server/process/converge-config.ts');
const { firstStart, writeRuntime } = await import('../src/server/process/first-start.ts');
const { openConfigured, serveGateway } = await import('../src/server/process/serve-gateway.ts');

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
