import type { Tool } from './tool.ts';

/** Name of the gateway in files that list several providers. */
const ID = 'gateway';
const TITLE = 'Agent Gateway';

/** Coding agents of the terminal. */
export const CODING_TOOLS: readonly Tool[] = [
  {
    name: 'claude',
    aliases: ['claude-code', 'claude-code-router', 'ccr'],
    title: 'Claude Code',
    summary: "Anthropic's coding agent",
    protocol: 'messages',
    program: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    tasks: ['background', 'plan'],
    recipe({ server, key, model, background = model, plan }) {
      const env = {
        ANTHROPIC_BASE_URL: server,
        ANTHROPIC_AUTH_TOKEN: key,
        // Plans by its opus, works by its sonnet.
        ANTHROPIC_MODEL: plan === undefined ? model : 'opusplan',
        // Unset, the tool asks for models of its own in the background.
        ANTHROPIC_DEFAULT_OPUS_MODEL: plan ?? model,
        ANTHROPIC_DEFAULT_SONNET_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: background,
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
      };
      return {
        env,
        files: [
          {
            path: '.claude/settings.json',
            movedBy: { variable: 'CLAUDE_CONFIG_DIR', folder: '.claude' },
            format: 'json',
            content: { env },
          },
        ],
      };
    },
  },
  {
    name: 'codex',
    aliases: ['codex-cli'],
    title: 'Codex',
    summary: "OpenAI's coding agent",
    protocol: 'responses',
    program: 'codex',
    install: 'npm install -g @openai/codex',
    recipe({ server, key, model }) {
      const provider = `model_providers.${ID}`;
      const set = (name: string, value: string) => ['-c', `${name}=${JSON.stringify(value)}`];
      return {
        env: { GATEWAY_API_KEY: key },
        args: [
          ...set('model', model),
          ...set('model_provider', ID),
          ...set(`${provider}.name`, TITLE),
          ...set(`${provider}.base_url`, `${server}/v1`),
          ...set(`${provider}.env_key`, 'GATEWAY_API_KEY'),
          ...set(`${provider}.wire_api`, 'responses'),
        ],
        // A profile is a file of its own, so the user's config.toml stays as it is.
        files: [
          {
            path: `.codex/${ID}.config.toml`,
            movedBy: { variable: 'CODEX_HOME', folder: '.codex' },
            format: 'toml',
            content: [
              `model = ${JSON.stringify(model)}`,
              `model_provider = "${ID}"`,
              '',
              `[${provider}]`,
              `name = "${TITLE}"`,
              `base_url = ${JSON.stringify(`${server}/v1`)}`,
              `experimental_bearer_token = ${JSON.stringify(key)}`,
              'wire_api = "responses"',
              '',
            ].join('\n'),
          },
        ],
        steps: [`with the file: codex --profile ${ID}`],
      };
    },
  },
  {
    name: 'gemini',
    aliases: ['gemini-cli'],
    title: 'Gemini CLI',
    summary: "Google's coding agent",
    protocol: 'generate-content',
    program: 'gemini',
    install: 'npm install -g @google/gemini-cli',
    recipe({ server, key, model }) {
      const env = { GOOGLE_GEMINI_BASE_URL: server, GEMINI_API_KEY: key, GEMINI_MODEL: model };
      // Unset, the tool signs in at its vendor, even with an address set.
      const content = { security: { auth: { selectedType: 'gemini-api-key' } } };
      return {
        env,
        settings: { variable: 'GEMINI_CLI_SYSTEM_SETTINGS_PATH', content },
        files: [
          {
            path: '.gemini/.env',
            movedBy: { variable: 'GEMINI_CLI_HOME', folder: '' },
            format: 'env',
            content: env,
          },
          {
            path: '.gemini/settings.json',
            movedBy: { variable: 'GEMINI_CLI_HOME', folder: '' },
            format: 'json',
            content,
          },
        ],
        steps: ['in a shell alone: when it asks how to sign in, choose "Use Gemini API Key"'],
      };
    },
  },
  {
    name: 'opencode',
    title: 'opencode',
    summary: 'Open-source coding agent',
    protocol: 'chat',
    program: 'opencode',
    install: 'npm install -g opencode-ai',
    tasks: ['background', 'plan'],
    recipe({ server, key, model, models, background = model, plan }) {
      const withKey = (apiKey: string) => ({
        $schema: 'https://opencode.ai/config.json',
        model: `${ID}/${model}`,
        small_model: `${ID}/${background}`,
        ...(plan !== undefined && { agent: { plan: { model: `${ID}/${plan}` } } }),
        provider: {
          [ID]: {
            npm: '@ai-sdk/openai-compatible',
            name: TITLE,
            options: { baseURL: `${server}/v1`, apiKey },
            models: Object.fromEntries(models.map((name) => [name, { name }])),
          },
        },
      });
      return {
        env: {
          GATEWAY_API_KEY: key,
          OPENCODE_CONFIG_CONTENT: JSON.stringify(withKey('{env:GATEWAY_API_KEY}')),
        },
        files: [
          {
            path: '.config/opencode/opencode.json',
            movedBy: { variable: 'XDG_CONFIG_HOME', folder: '.config' },
            names: ['opencode.jsonc', 'opencode.json', 'config.json'],
            format: 'json',
            content: withKey(key),
          },
        ],
      };
    },
  },
  {
    name: 'aider',
    title: 'aider',
    summary: 'Pair programming in the terminal',
    protocol: 'chat',
    program: 'aider',
    install: 'python -m pip install aider-install && aider-install',
    tasks: ['background'],
    recipe({ server, key, model, background: weak }) {
      return {
        env: {
          OPENAI_API_BASE: `${server}/v1`,
          OPENAI_API_KEY: key,
          AIDER_MODEL: `openai/${model}`,
          ...(weak !== undefined && { AIDER_WEAK_MODEL: `openai/${weak}` }),
        },
        files: [
          {
            path: '.aider.conf.yml',
            format: 'yaml',
            content: {
              'openai-api-base': `${server}/v1`,
              'openai-api-key': key,
              model: `openai/${model}`,
              ...(weak !== undefined && { 'weak-model': `openai/${weak}` }),
            },
          },
        ],
      };
    },
  },
  {
    name: 'goose',
    title: 'goose',
    summary: 'Open-source agent on the desktop and in the terminal',
    protocol: 'chat',
    program: 'goose',
    tasks: ['plan'],
    recipe({ server, key, model, plan }) {
      return {
        env: {
          GOOSE_PROVIDER: 'openai',
          GOOSE_MODEL: model,
          ...(plan !== undefined && { GOOSE_PLANNER_MODEL: plan }),
          OPENAI_HOST: server,
          OPENAI_BASE_PATH: 'v1/chat/completions',
          OPENAI_API_KEY: key,
        },
      };
    },
  },
];
