import type { Tool } from './tool.ts';

const TITLE = 'Agent Gateway';
/** Context window in tokens for tools that require one; the smallest that is common today. */
const CONTEXT_TOKENS = 128_000;

/** Editors. */
export const EDITORS: readonly Tool[] = [
  {
    name: 'continue',
    title: 'Continue',
    summary: 'Assistant in VS Code and JetBrains',
    protocol: 'chat',
    recipe({ server, key, models }) {
      return {
        files: [
          {
            path: '.continue/config.yaml',
            movedBy: { variable: 'CONTINUE_GLOBAL_DIR', folder: '.continue' },
            replaces: 'config.json',
            format: 'yaml',
            defaults: { name: TITLE, version: '1.0.0', schema: 'v1' },
            content: {
              models: models.map((model) => ({
                name: model,
                provider: 'openai',
                model,
                apiBase: `${server}/v1`,
                apiKey: key,
              })),
            },
          },
        ],
      };
    },
  },
  {
    name: 'cursor',
    title: 'Cursor',
    summary: 'Editor',
    protocol: 'chat',
    recipe({ server, key, model }) {
      return {
        steps: [
          'open Settings, Models, API Keys',
          `OpenAI API Key: ${key}`,
          `Override OpenAI Base URL: ${server}/v1`,
          `Add model: ${model}`,
          "Cursor calls from its maker's servers, so the address must be reachable from the internet",
        ],
      };
    },
  },
  {
    name: 'zed',
    title: 'Zed',
    summary: 'Editor',
    protocol: 'chat',
    program: 'zed',
    recipe({ server, key, models }) {
      return {
        // Zed derives the name of the variable from that of the provider.
        env: { AGENT_GATEWAY_API_KEY: key },
        files: [
          {
            path: '.config/zed/settings.json',
            movedBy: { variable: 'XDG_CONFIG_HOME', folder: '.config' },
            format: 'json',
            content: {
              language_models: {
                openai_compatible: {
                  [TITLE]: {
                    api_url: `${server}/v1`,
                    available_models: models.map((name) => ({
                      name,
                      display_name: name,
                      max_tokens: CONTEXT_TOKENS,
                    })),
                  },
                },
              },
            },
          },
        ],
        steps: [`the key: Agent Panel, Settings, LLM Providers, ${TITLE}: ${key}`],
      };
    },
  },
];

/** Web applications that people chat or build with. */
export const WEB_TOOLS: readonly Tool[] = [
  {
    name: 'open-webui',
    aliases: ['openwebui'],
    title: 'Open WebUI',
    summary: 'Chat in the browser',
    protocol: 'chat',
    program: 'open-webui',
    recipe({ server, key }) {
      return {
        env: { OPENAI_API_BASE_URL: `${server}/v1`, OPENAI_API_KEY: key },
        steps: [
          'in a container the gateway of this machine is http://host.docker.internal in place of http://127.0.0.1',
        ],
      };
    },
  },
  {
    name: 'librechat',
    title: 'LibreChat',
    summary: 'Chat in the browser',
    protocol: 'chat',
    recipe({ server, key, models, model }) {
      return {
        files: [
          {
            path: 'librechat.yaml',
            isHere: true,
            format: 'yaml',
            defaults: { version: '1.2.8' },
            content: {
              endpoints: {
                custom: [
                  {
                    name: TITLE,
                    apiKey: key,
                    baseURL: `${server}/v1`,
                    models: { default: models, fetch: true },
                    titleConvo: true,
                    titleModel: model,
                  },
                ],
              },
            },
          },
        ],
      };
    },
  },
  {
    name: 'n8n',
    title: 'n8n',
    summary: 'Workflows',
    protocol: 'chat',
    recipe({ server, key, model }) {
      return {
        steps: [
          'Credentials, Create credential, OpenAI',
          `API Key: ${key}`,
          `Base URL: ${server}/v1`,
          `in the node OpenAI Chat Model: Model, By ID, ${model}`,
        ],
      };
    },
  },
];

/** Client libraries, by the variables that all their languages read. */
export const LIBRARIES: readonly Tool[] = [
  {
    name: 'openai',
    title: "OpenAI's libraries",
    summary: 'Python, TypeScript, Go, …',
    protocol: 'chat',
    recipe: ({ server, key }) => ({
      env: { OPENAI_BASE_URL: `${server}/v1`, OPENAI_API_KEY: key },
    }),
  },
  {
    name: 'anthropic',
    title: "Anthropic's libraries",
    summary: 'Python, TypeScript, Go, …',
    protocol: 'messages',
    recipe: ({ server, key }) => ({
      env: { ANTHROPIC_BASE_URL: server, ANTHROPIC_AUTH_TOKEN: key },
    }),
  },
];
