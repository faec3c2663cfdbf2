import { stringifyWithRaw } from '../../src/core/json/raw.ts';
import { ToolServerError } from '../../src/runtime/tools/tool-server.ts';
import type { ServerTool, ToolOutcome, ToolServers } from '../../src/runtime/tools/tool-server.ts';

export interface FakeServers extends ToolServers {
  /** Names of the tools that were called, with their input as JSON. */
  readonly calls: string[];
  /** Servers that were opened and are not closed. */
  open_: number;
}

const tool = (name: string, hints: Partial<ServerTool> = {}): ServerTool => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  isReadOnly: false,
  isIdempotent: false,
  ...hints,
});

export const SHOP_TOOLS = [
  tool('order'),
  tool('search', { isReadOnly: true }),
  tool('reserve', { isIdempotent: true }),
];

export interface FakeServersOptions {
  failure?: ToolServerError['reason'];
  /** In place of an answer at once. */
  onCall?: (name: string, signal: AbortSignal) => Promise<ToolOutcome>;
}

/** One shop, in memory. */
export function fakeServers({ failure, onCall }: FakeServersOptions = {}): FakeServers {
  const fake: FakeServers = {
    calls: [],
    open_: 0,
    open() {
      fake.open_++;
      return {
        async list() {
          if (failure) throw new ToolServerError(failure, 'no');
          return SHOP_TOOLS;
        },
        async call(name, input, signal) {
          fake.calls.push(`${name} ${stringifyWithRaw(input)}`);
          if (onCall) return onCall(name, signal);
          return { content: [{ type: 'text', text: `${name} is done` }], isError: false };
        },
        async close() {
          fake.open_--;
        },
      };
    },
  };
  return fake;
}
