// The demo's second part: an Agent, every way to call it, and a turn that outlives its process.
import { callTool, promptAgent, runService } from './demo-clients.js';
import { expect, tell } from './demo-stage.js';

const CONFIG = `version: 1
namespace: helper
agents:
  - { name: helper, model: demo/echo, system: Be brief. }
services:
  - name: helper
    slug: helper
    agent_id: \${ref:agent.helper.id}
    protocols: [rest, mcp, acp]
`;
/** Pieces of the answer that are seen before the process is killed. */
const PIECES = 8;

/**
 * @param {{ stage: object, server: object, key: string, story: string }} scene
 * @returns the gateway that serves at the end
 */
export async function showAgents({ stage, server, key, story }) {
  tell('An Agent in ten lines of YAML, published as a Service');
  stage.write('helper.yaml', CONFIG);
  await stage.gateway('apply', '-f', 'helper.yaml', '--yes', '--quiet');
  const { data } = JSON.parse(await stage.quietly('services', 'list', '-o', 'json'));
  const path = `/v1/endpoints/${data.find(({ slug }) => slug === 'helper').id}`;
  const service = { url: server.url, key };
  await callEveryWay(stage, service, path);

  tell('A long turn, and kill -9 in the middle of it');
  const run = { ...service, path: `${path}/run`, input: 'Tell me a story' };
  const session = await killInMidTurn(run, server);

  tell('Start it again: the Session goes on by itself');
  const again = await stage.start();
  await stage.gateway('sessions', 'tail', session, '--until-done');
  await expectComplete({ stage, session, story });
  return again;
}

async function callEveryWay(stage, service, path) {
  const input = 'Can you hear me?';
  const check = (name, said) => {
    console.log(`    ${name.padEnd(50)} ${said}`);
    expect(said === `You said: ${input}`, `${name} was told: ${said}`);
  };

  tell('Call it over REST, MCP and ACP, with the official clients');
  const { session, stream } = await runService({ ...service, path: `${path}/run`, input });
  check('REST, followed by @anthropic-ai/sdk', await answerOn(stream));
  const args = { input, session_id: session, wait: true };
  const { events } = await callTool({ ...service, path: `${path}/mcp` }, 'send_message', args);
  check('MCP, @modelcontextprotocol/sdk, the same Session', textOf(events));
  const agent = stage.talk('acp', 'helper');
  const prompted = await promptAgent(agent, input);
  check('ACP, @agentclientprotocol/sdk, `gateway acp`', prompted.said);
  agent.stdin.destroy();

  tell('However it began, it is a Session that anybody of the organization can read');
  await stage.gateway('sessions', 'list');
  await stage.gateway('sessions', 'events', session);
}

async function answerOn(stream) {
  const events = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === 'session.status_idle') break;
  }
  return textOf(events);
}

const textOf = (events) =>
  events
    .filter(({ type }) => type === 'agent.message')
    .map(({ content }) => content[0].text)
    .join('');

/** Gives the Session whose turn had just begun to answer. */
async function killInMidTurn(run, server) {
  const { session, stream } = await runService(run);
  process.stdout.write('    ');
  let pieces = 0;
  let ended;
  try {
    for await (const { type, delta } of stream) {
      expect(type !== 'agent.message', 'the turn was over before the process was killed');
      if (type !== 'event_delta') continue;
      process.stdout.write(delta.content.text);
      pieces += 1;
      if (pieces === PIECES) ended = server.end('SIGKILL');
    }
  } catch (error) {
    // What a client sees of a process that is no more.
    if (ended === undefined) throw error;
  }
  expect((await ended) === 'SIGKILL', 'the process was not killed');
  console.log(' … killed');
  return session;
}

async function expectComplete({ stage, session, story }) {
  const log = await stage.quietly('sessions', 'events', session, '-o', 'json');
  const { data: events } = JSON.parse(log);
  const of = (type) => events.filter((event) => event.type === type);
  expect(of('user.message').length === 1, 'the message is not there once');
  expect(textOf(events) === story, `the answer is ${textOf(events)}`);
  const requests = of('span.model_request_end');
  expect(requests.length === 2, `${requests.length} model requests`);
  expect(requests[0].is_error, 'the request that the process took with it has no end');
  const last = events.at(-1);
  expect(last.type === 'session.status_idle', `the last event is ${last.type}`);
  expect(last.stop_reason.type === 'end_turn', `the turn ended with ${last.stop_reason.type}`);
  const starts = of('span.model_request_start').length;
  console.log(`    complete: ${events.length} events, one answer, ${starts} model requests`);
}
