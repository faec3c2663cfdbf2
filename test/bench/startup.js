// What a light command costs over a bare Node process.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { percentile } from './load.js';

const RUNS = 20;

export async function measureStartup(root) {
  const gateway = join(root, 'bin/gateway.js');
  const commands = {
    'bare node': ['-e', '0'],
    'gateway --help': [gateway, '--help'],
    'gateway version': [gateway, 'version'],
  };
  const times = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  for (let run = 0; run <= RUNS; run++) {
    for (const [name, args] of Object.entries(commands)) {
      const started = performance.now();
      spawnSync(process.execPath, args, { stdio: 'ignore' });
      if (run > 0) times[name].push(performance.now() - started);
    }
  }
  console.log(`\nstartup (medians of ${RUNS} runs)`);
  for (const [name, list] of Object.entries(times)) {
    const ratios = list.map((ms, i) => ms / times['bare node'][i]);
    console.log(
      `${name.padEnd(16)} ${percentile(list, 0.5).toFixed(1)} ms, x ${percentile(ratios, 0.5).toFixed(2)} of bare node`,
    );
  }
}
