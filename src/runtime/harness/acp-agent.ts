import { client, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type {
  AgentCapabilities,
  AnyMessage,
  ClientConnection,
  McpServer,
  Stream,
} from '@agentclientprotocol/sdk';
import { isJsonObject } from '../../core/json/value.ts';
import { toPublicMessage } from '../../core/redact.ts';
import { toAcpPrompt } from './acp-content.ts';
import { AcpTurn } from './acp-turn.ts';
import type { AgentSetting, HarnessAgent, HarnessPrompt, HarnessStop } from './harness-agent.ts';
import { HarnessError } from './harness-error.ts';
import type { HarnessFault } from './harness-error.ts';
import type { HarnessProcess } from './harness-process.ts';
import { JsonLines } from './json-lines.ts';
import type { HarnessMcpServer } from './mcp-servers.ts';
import type { Scrubber } from './scrubber.ts';
import { toSkillWords } from './skill-folders.ts';
import { createToolPolicy } from './tool-policy.ts';

const STOPS: Readonly<Record<string, HarnessStop>> = {
  end_turn: 'end_turn',
  refusal: 'refusal',
  cancelled: 'cancelled',
  max_tokens: 'cut_short',
  max_turn_requests: 'cut_short',
};

/**
 * Opens a session of an agent that speaks the Agent Client Protocol, version 1, over stdio. It is offered
 * neither files nor terminals of the gateway's.
 *
 * @throws HarnessError
 */
export async function openAcpAgent(
  process: HarnessProcess,
  setting: AgentSetting,
): Promise<HarnessAgent> {
  const { directory, mcpServers, scrubber, session, skills } = setting;
  const link = new AcpLink(process, scrubber);
  const capabilities = await initialize(link, setting.version);
  const takesHttp = capabilities.mcpCapabilities?.http === true;
  const used = mcpServers.filter(({ type }) => type === 'stdio' || takesHttp);
  const { sessionId } = await link.ask(
    (agent) =>
      agent.request(methods.agent.session.new, {
        cwd: directory,
        mcpServers: used.map(toAcpServer),
      }),
    'start_failed',
  );
  if (typeof sessionId !== 'string') throw new HarnessError('invalid_output');
  scrubber.rename(sessionId, session.id);
  const policy = createToolPolicy(session.agent.tools);
  const said = [session.agent.system ?? '', toSkillWords(skills)];
  const instructions = said.filter((text) => text !== '').join('\n\n');

  return {
    unusedServers: mcpServers.filter((server) => !used.includes(server)).map(({ name }) => name),
    async prompt(prompt: HarnessPrompt) {
      const turn = new AcpTurn(prompt.recorder, policy);
      const { promptCapabilities } = capabilities;
      const blocks = toAcpPrompt(prompt, instructions, promptCapabilities ?? {});
      const { stopReason } = await link.during(turn, (agent) =>
        agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks }),
      );
      await turn.finish();
      return STOPS[stopReason] ?? 'end_turn';
    },
    cancel: () => link.notifyCancel(sessionId),
  };
}

async function initialize(link: AcpLink, version: string): Promise<AgentCapabilities> {
  const { protocolVersion, agentCapabilities } = await link.ask(
    (agent) =>
      agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
        },
        clientInfo: { name: 'agent-gateway', version },
      }),
    'start_failed',
  );
  if (protocolVersion === PROTOCOL_VERSION) return agentCapabilities ?? {};
  throw new HarnessError('start_failed', 'it speaks another version of its protocol');
}

type Agent = ClientConnection['agent'];

/** The connection: requests and answers go through the SDK, updates straight to the turn, each in its order. */
class AcpLink {
  readonly #connection: ClientConnection;
  readonly #lines: JsonLines;
  /** Ids of requests that the agent has yet to answer. */
  readonly #asked = new Set<unknown>();
  readonly #scrubber: Scrubber;
  #turn: AcpTurn | undefined;

  constructor(process: HarnessProcess, scrubber: Scrubber) {
    this.#scrubber = scrubber;
    const { stream, take } = this.#toStream(process);
    this.#connection = client({ name: 'agent-gateway' })
      .onRequest(methods.client.session.requestPermission, async ({ params }) => {
        const { toolCall, options } = params;
        return this.#turn?.ask(toolCall, options) ?? { outcome: { outcome: 'cancelled' } };
      })
      .connect(stream);
    this.#lines = new JsonLines(process, take);
    void this.#lines.failed.catch((reason: unknown) => this.#connection.close(reason));
  }

  async ask<T>(question: (agent: Agent) => Promise<T>, fault: HarnessFault = 'failed'): Promise<T> {
    const answer = question(this.#connection.agent).catch((thrown: unknown) => {
      // The connection fails by itself when the process takes no further input.
      if (!(thrown instanceof RequestError)) throw new HarnessError('exited');
      const message = this.#scrubber.text(thrown.message);
      throw new HarnessError(fault, toPublicMessage(message, { maxChars: 500 }));
    });
    const result = await Promise.race([answer, this.#lines.failed]);
    if (isJsonObject(result)) return result;
    throw new HarnessError('invalid_output');
  }

  async during<T>(turn: AcpTurn, question: (agent: Agent) => Promise<T>): Promise<T> {
    this.#turn = turn;
    this.#lines.beginTurn();
    try {
      return await this.ask(question);
    } finally {
      this.#turn = undefined;
    }
  }

  async notifyCancel(sessionId: string): Promise<void> {
    await this.#connection.agent
      .notify(methods.agent.session.cancel, { sessionId })
      .catch(() => undefined);
  }

  #toStream(process: HarnessProcess): {
    stream: Stream;
    take: (message: Record<string, unknown>) => Promise<void>;
  } {
    let controller: ReadableStreamDefaultController<AnyMessage> | undefined;
    const readable = new ReadableStream<AnyMessage>({
      start(opened) {
        controller = opened;
      },
    });
    const writable = new WritableStream<AnyMessage>({
      write: async (message) => {
        if ('method' in message && 'id' in message) this.#asked.add(message.id);
        await process.send(message);
      },
    });
    const take = async (message: Record<string, unknown>): Promise<void> => {
      const { id, method, params } = message;
      if (method === undefined && !this.#asked.delete(id)) throw new HarnessError('invalid_output');
      // A message that needs no answer is either an update or of no concern here.
      if (method === undefined || id !== undefined)
        controller?.enqueue(message as unknown as AnyMessage);
      else if (method === methods.client.session.update && isJsonObject(params))
        await this.#turn?.take(isJsonObject(params['update']) ? params['update'] : {});
    };
    return { stream: { readable, writable }, take };
  }
}

function toAcpServer(server: HarnessMcpServer): McpServer {
  const { name } = server;
  const toPairs = (record: Readonly<Record<string, string>>) =>
    Object.entries(record).map(([name, value]) => ({ name, value }));
  if (server.type === 'http')
    return { type: 'http', name, url: server.url, headers: toPairs(server.headers) };
  const { command, args, env } = server;
  return { name, command, args: [...args], env: toPairs(env) };
}
