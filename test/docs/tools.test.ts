import { it, expect } from 'vitest';
import { contentOf, shownPath } from '../../src/cli/connect/render-recipe.ts';
import { TOOLS } from '../../src/cli/connect/tools.ts';
import type { Tool } from '../../src/cli/connect/tool.ts';
import { CONTRACT } from '../clients/claude-contract.ts';
import { table } from './table.ts';

const SETUP = {
  server: 'http://127.0.0.1:8787',
  key: 'YOUR_KEY',
  model: 'acme/fast',
  models: ['acme/fast', 'acme/slow'],
};

const INTRODUCTION = `# Tools

\`gateway connect TOOL\` prints what makes a tool use the gateway, with your address, your key and your models:

\`\`\`sh
gateway connect                      # the tools that it knows
gateway connect claude               # what to paste
gateway connect claude --run         # start it so, and change no file
gateway connect claude --print-key   # only the key, the same in every shell
gateway connect claude --write       # merge into its files; --undo takes it back
gateway connect claude --model NAME  # another model than the first that fits
\`\`\`

\`--write\` writes the file that the tool reads already, under any of its names: \`opencode.jsonc\` before \`opencode.json\`. JSON with comments is left as it is, for a merge would lose them, and so is a file that a new one would hide (Continue's \`config.json\`): paste the printed configuration.

A tool never gets a key that may administer the gateway. Where yours may, \`--run\`, \`--write\` and \`--create-key\` make a key of the tool's name and keep it for the next time, so \`gateway usage --by key\` shows what the tool spent, and \`gateway keys update claude --spending-limit-day 5\` limits it.

Claude Code, Codex, Gemini CLI and opencode hold a conversation with a tool call in \`npm run test:clients\`, over providers that speak their protocol and over translation.

Claude Code can keep its own login, or a key of Anthropic's, where the gateway has a provider with [\`auth: { type: client }\`](providers.md#the-clients-own-credential). With a login the key of the gateway goes in \`x-api-key\`, and models are named, not listed: \`GET /v1/models\` reads only \`Authorization\`.

\`\`\`sh
export ANTHROPIC_BASE_URL=http://127.0.0.1:8787
# With the login of claude /login, or of CLAUDE_CODE_OAUTH_TOKEN
export ANTHROPIC_CUSTOM_HEADERS="x-api-key: YOUR_KEY"
# With a key of Anthropic's
export ANTHROPIC_AUTH_TOKEN=YOUR_KEY ANTHROPIC_CUSTOM_HEADERS="x-gateway-upstream-authorization: ANTHROPIC_KEY"
\`\`\`
`;

const CONTRACT_TEXT = `## Claude Code's contract

What [Claude Code publishes for gateways](https://code.claude.com/docs/en/llm-gateway-protocol), row by row; \`npm run test:clients\` looks at each with the real client. Rows on signing in, managed settings and the formats of Bedrock and Vertex are for gateways that have them: this one has keys.

${table([['Claude Code', 'Gateway'], ...CONTRACT.map(({ row, gateway }) => [row, gateway])])}`;

const block = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

function section(tool: Tool): string {
  const { env = {}, files = [], steps = [], args = [] } = tool.recipe(SETUP);
  const names = Object.keys(env);
  const parts = [
    `## ${tool.title}`,
    `${tool.summary}. It asks in the protocol \`${tool.protocol}\`. \`gateway connect ${tool.name}\``,
    names.length > 0 &&
      `Variables: ${names.map((name) => `\`${name}\``).join(', ')}${args.length > 0 ? ', and arguments' : ''}.`,
    ...files.map(
      (file) =>
        `\`${shownPath(file)}\`:\n\n${block(file.format === 'env' ? 'sh' : file.format, contentOf(file))}`,
    ),
    steps.length > 0 && steps.map((step) => `- ${step}`).join('\n'),
  ];
  return parts.filter((part) => part !== false).join('\n\n');
}

it("shows what connect prints of every tool, and Claude Code's contract", async () => {
  const page = [INTRODUCTION.trimEnd(), ...TOOLS.map(section), CONTRACT_TEXT].join('\n\n');
  await expect(`${page}\n`).toMatchFileSnapshot('../../docs/tools.md');
});
