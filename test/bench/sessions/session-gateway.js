// A gateway of its own for the measurements of Sessions, and what they ask of it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join, resolve } from 'node:path';
import { cpuMicros, memoryMiB, startServer } from '../processes.js';

/** The model answers at once, or half a second after it was asked `slowly`. */
const CONFIG = `version: 1
server:
  listen: { port: 0 }
providers:
  - name: mock
    type: mock
    mock:
      rules: [{ match: { text: slowly }, reply: { text: done, delay_ms: 500 } }]
models:
  - name: bench/model
    pricing: { input: 0.15, output: 0.6 }
    routes: [{ provider: mock, upstream_model: echo }]
`;

/**
 * The shipped binary of a checkout, with an Agent and a Service of it.
 *
 * @param {{ root: string, directory: string, profile?: string }} options
 */
export async function startSessionGateway({ root, directory, profile }) {
  mkdirSync(directory, { recursive: true });
  const config = join(directory, 'gateway.yaml');
  writeFileSync(config, CONFIG);
  const binary = join(root, 'bin/gateway.js');
  const flags = profile ? ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`] : [];
  const server = await startServer([...flags, binary, 'start', '--config', config], {
    cwd: directory,
  });
  const key = readFileSync(join(directory, '.gateway', 'admin.key'), 'utf8').trim();
  const call = caller(server.url, key);
  const agent = await call('POST', '/v1/agents', { name: 'bench', model: 'bench/model' });
  const service = await call('POST', '/v1/endpoints', {
    name: 'bench',
    agent_id: agent.id,
    protocols: ['rest'],
  });
  return {
    ...server,
    key,
    call,
    agentId: agent.id,
    run: `/v1/endpoints/${service.id}/run`,
    cpu: () => cpuMicros(server.pid),
    memory: () => memoryMiB(server.pid).own,
    newSession: async () => (await call('POST', '/v1/sessions', { agent: agent.id })).id,
  };
}

/** An event for the log that calls for no turn. */
export const note = (text) => ({ type: 'system.message', content: [{ type: 'text', text }] });

/** Brings a Session to that many events. */
export async function fill({ call }, id, count) {
  const text = 'words of an agent at work, '.repeat(8);
  for (let sent = 0; sent < count; sent += 100) {
    const events = Array.from({ length: Math.min(100, count - sent) }, () => note(text));
    await call('POST', `/v1/sessions/${id}/events`, { events });
  }
}

/** Calls over connections that stay open. */
function caller(url, key) {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(url);
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const headers = {
        authorization: `Bearer ${key}`,
        ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
      };
      const sent = request({ agent, hostname, port, path, method, headers }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode < 300) resolve(JSON.parse(text));
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
        });
      });
      sent.on('error', reject);
      sent.end(bytes);
    });
}
