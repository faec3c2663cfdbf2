import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Protocol } from '../../../src/protocols/registry.ts';
import { PROTOCOL_IDS } from '../../../src/protocols/registry.ts';
import {
  capabilitiesAt,
  capabilitiesOf,
  UNKNOWN,
} from '../../../src/protocols/capabilities/capabilities-of.ts';
import type { Capabilities } from '../../../src/protocols/capabilities/capabilities.ts';
import { MISTRAL } from '../../../src/protocols/capabilities/open-models.ts';
import { RULES } from '../../../src/protocols/capabilities/rules.ts';
import { verifies } from '../../requirements.ts';

const OPENAI = 'https://platform.openai.com/docs';
const PLATFORM = 'https://platform.claude.com/docs/en';
const CLAUDE = 'https://docs.claude.com/en/docs';
const GOOGLE = 'https://ai.google.dev/gemini-api/docs';

type Case = [model: string, takes: Partial<Capabilities>];

/** Published rules by the vendor's page. */
const PUBLISHED: Record<string, { protocol: Protocol; cases: Case[] }> = {
  [`${CLAUDE}/build-with-claude/extended-thinking`]: {
    protocol: 'messages',
    cases: [
      ['claude-instant-1.2', { thinking: 'none' }],
      ['anthropic.claude-v2:1', { thinking: 'none' }],
      ['claude-3-opus-20240229', { thinking: 'none' }],
      ['claude-3-5-sonnet-20241022', { thinking: 'none' }],
      [
        'claude-3-7-sonnet-latest',
        {
          thinking: 'budget',
          min_budget: 1024,
          sampling_with_thinking: false,
          top_p_with_thinking: 0.95,
          forced_tool_with_thinking: false,
        },
      ],
      ['claude-opus-4-20250514', { thinking: 'budget', efforts: [] }],
      ['claude-sonnet-4@20250514', { thinking: 'budget', efforts: [] }],
      ['claude-opus-4-1', { thinking: 'budget', efforts: [] }],
    ],
  },
  [`${CLAUDE}/build-with-claude/adaptive-thinking`]: {
    protocol: 'messages',
    cases: [
      ['claude-sonnet-4-5-20250929', { thinking: 'budget', efforts: [] }],
      ['anthropic.claude-haiku-4-5-20251001-v1:0', { thinking: 'budget', efforts: [] }],
      ['anthropic/claude-4.5-sonnet', { thinking: 'budget', efforts: [] }],
      ['claude-opus-4-6', { thinking: 'any' }],
      ['claude-sonnet-4-6@20260101', { thinking: 'any', sampling: true }],
    ],
  },
  [`${CLAUDE}/about-claude/models/migration-guide`]: {
    protocol: 'messages',
    cases: [
      ['claude-opus-4-7', { thinking: 'adaptive', sampling: false }],
      ['claude-opus-4-8-20260401', { thinking: 'adaptive', sampling: false }],
      ['claude-opus-4-10', { thinking: 'adaptive', sampling: false }],
      ['claude-sonnet-5', { thinking: 'adaptive', sampling: false }],
      ['claude-opus-5-1', { thinking: 'adaptive', sampling: false }],
    ],
  },
  [`${CLAUDE}/build-with-claude/effort`]: {
    protocol: 'messages',
    cases: [
      ['anthropic/claude-opus-4.5', { thinking: 'budget', efforts: ['low', 'medium', 'high'] }],
      ['claude-opus-4-6', { efforts: ['low', 'medium', 'high', 'max'] }],
      ['claude-sonnet-4-6', { efforts: ['low', 'medium', 'high', 'max'] }],
      ['claude-opus-4-7', { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] }],
    ],
  },
  [`${CLAUDE}/about-claude/models/migrating-to-claude-4`]: {
    protocol: 'messages',
    cases: [
      ['claude-opus-4-20250514', { temperature_with_top_p: true }],
      ['claude-opus-4-1-20250805', { temperature_with_top_p: false }],
      ['claude-haiku-4-5', { temperature_with_top_p: false }],
      ['claude-sonnet-4-6', { temperature_with_top_p: false }],
    ],
  },
  [`${CLAUDE}/build-with-claude/pdf-support`]: {
    protocol: 'messages',
    cases: [['claude-haiku-4-5', { document_types: ['application/pdf'] }]],
  },
  'https://github.com/openai/openai-openapi/blob/main/openapi.json#/components/schemas/ChatCompletionRequestAssistantMessage':
    {
      protocol: 'chat',
      cases: [
        ['gpt-4.1', { unknown_members: ['reasoning_text'] }],
        ['gpt-oss-20b', { unknown_members: [] }],
      ],
    },
  'https://api-docs.deepseek.com/guides/thinking_mode': {
    protocol: 'chat',
    cases: [
      ['deepseek-v4-flash', { unreasoned_call: '.' }],
      ['deepseek-ai/DeepSeek-V4-Pro', { unreasoned_call: '.' }],
      ['deepseek-reasoner', { unreasoned_call: '.' }],
      ['deepseek-v3.2', { unreasoned_call: null }],
    ],
  },
  'https://github.com/anomalyco/opencode/issues/10996': {
    protocol: 'chat',
    cases: [
      ['moonshotai/Kimi-K2.5', { unreasoned_call: '.' }],
      ['kimi-k3', { unreasoned_call: '.' }],
      ['kimi-k2-0905-preview', { unreasoned_call: null }],
    ],
  },
  'https://github.com/HKUDS/nanobot/pull/4967': {
    protocol: 'chat',
    cases: [
      ['moonshotai/kimi-k2.6', { sampling: false }],
      ['kimi-k3', { sampling: false }],
      ['kimi-k2-0905-preview', { sampling: true }],
    ],
  },
  'https://github.com/QwenLM/qwen-code/issues/7659': {
    protocol: 'chat',
    cases: [
      ['qwen3.8-max', { forced_tool: false }],
      ['qwen/qwen3.7-plus-2026-06-02', { forced_tool: false }],
      ['qwen3.5-35b-a3b', { forced_tool: true }],
      ['qwen3-max', { forced_tool: true }],
    ],
  },
  'https://github.com/tickernelz/opencode-mem/issues/253': {
    protocol: 'chat',
    cases: [['deepseek-v4-pro', { forced_tool: true }]],
  },
  'https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model': {
    protocol: 'chat',
    cases: [['kimi-k2-thinking-turbo', { unreasoned_call: '.' }]],
  },
  [`${OPENAI}/api-reference/chat`]: {
    protocol: 'chat',
    cases: [['llama-3.3-70b', { tool_id_length: 40 }]],
  },
  [`${OPENAI}/api-reference/responses`]: {
    protocol: 'responses',
    cases: [['gpt-4o', { tool_id_length: 64, min_output_tokens: 16 }]],
  },
  [`${OPENAI}/guides/reasoning`]: {
    protocol: 'chat',
    cases: [
      ['gpt-4o-mini', { thinking: 'none', sampling: true }],
      ['gpt-4.1', { thinking: 'none' }],
      ['gpt-3.5-turbo', { thinking: 'none' }],
      ['chatgpt-4o-latest', { thinking: 'none' }],
      ['o3', { efforts: ['low', 'medium', 'high'], sampling: false, thinking_off: false }],
      ['openai/o4-mini', { efforts: ['low', 'medium', 'high'], sampling: false }],
      ['gpt-5-2025-08-07', { efforts: ['minimal', 'low', 'medium', 'high'], sampling: false }],
      ['gpt-5-mini', { efforts: ['minimal', 'low', 'medium', 'high'], thinking_off: false }],
      ['gpt-oss-20b', { thinking: 'effort', sampling: true }],
      ['foo3', { thinking: 'effort', sampling: true }],
    ],
  },
  [`${OPENAI}/guides/latest-model`]: {
    protocol: 'responses',
    cases: [
      [
        'gpt-5.1',
        {
          efforts: ['none', 'low', 'medium', 'high'],
          sampling: true,
          sampling_with_thinking: false,
          thinking_off: true,
        },
      ],
      ['gpt-5.2', { efforts: ['none', 'low', 'medium', 'high', 'xhigh'] }],
    ],
  },
  [`${OPENAI}/models`]: {
    protocol: 'responses',
    cases: [
      ['gpt-5-codex', { efforts: ['low', 'medium', 'high'], thinking_off: false }],
      ['gpt-5.1-codex-mini', { efforts: ['low', 'medium', 'high'] }],
      ['gpt-5.1-codex-max', { efforts: ['low', 'medium', 'high', 'xhigh'] }],
      ['gpt-5.2-codex', { efforts: ['low', 'medium', 'high', 'xhigh'] }],
      ['gpt-5-pro', { efforts: ['high'] }],
      ['gpt-5.2-pro', { efforts: ['medium', 'high', 'xhigh'] }],
      ['gpt-5-chat-latest', { thinking: 'none', sampling: true, thinking_off: true }],
    ],
  },
  [`${GOOGLE}/thinking`]: {
    protocol: 'generate-content',
    cases: [
      ['gemini-2.0-flash-001', { thinking: 'none' }],
      ['gemini-1.5-pro', { thinking: 'none' }],
      ['gemini-2.5-flash', { thinking: 'budget', thinking_off: true, max_budget: 24_576 }],
      ['gemini-2.5-flash-lite', { thinking: 'budget', min_budget: 512 }],
      [
        'models/gemini-2.5-pro',
        { thinking: 'budget', thinking_off: false, min_budget: 128, max_budget: 32_768 },
      ],
    ],
  },
  [`${GOOGLE}/gemini-3`]: {
    protocol: 'generate-content',
    cases: [
      ['gemini-3-pro-preview', { efforts: ['low', 'high'], thinking_off: false }],
      ['gemini-3-flash-preview', { efforts: ['minimal', 'low', 'medium', 'high'] }],
      ['gemini-3.1-pro-preview', { efforts: ['low', 'medium', 'high'], thinking_off: false }],
    ],
  },
  [`${GOOGLE}/function-calling`]: {
    protocol: 'generate-content',
    cases: [['gemini-3-pro', { consecutive_assistant_turns: false, custom_tools: false }]],
  },
  [`${OPENAI}/guides/function-calling`]: {
    protocol: 'chat',
    cases: [['gpt-5', { consecutive_assistant_turns: false, assistant_first: true }]],
  },
  'https://docs.claude.com/en/api/messages': {
    protocol: 'messages',
    cases: [
      [
        'claude-opus-4-6',
        {
          assistant_first: false,
          custom_tools: false,
          blank_texts: false,
          personal_user: false,
          user_length: 256,
          forced_tool: true,
        },
      ],
    ],
  },
  [`${CLAUDE}/build-with-claude/structured-outputs`]: {
    protocol: 'messages',
    cases: [['claude-sonnet-4-5', { any_schema: false }]],
  },
  [`${PLATFORM}/build-with-claude/mid-conversation-system-messages`]: {
    protocol: 'messages',
    cases: [
      ['claude-opus-4-7', { system_turns: false }],
      ['claude-opus-4-8', { system_turns: true }],
      ['anthropic/claude-opus-5.5', { system_turns: true }],
      ['claude-fable-5-1', { system_turns: true }],
      ['claude-mythos-5', { system_turns: true }],
      ['claude-sonnet-5', { system_turns: false }],
    ],
  },
  [`${PLATFORM}/build-with-claude/thinking-tool-workflows`]: {
    protocol: 'messages',
    cases: [['claude-sonnet-4-5', { budget_after_calls: false }]],
  },
  [`${PLATFORM}/build-with-claude/adaptive-thinking`]: {
    protocol: 'messages',
    cases: [
      ['claude-fable-5', { thinking: 'adaptive', thinking_off: false, forced_tool: true }],
      ['claude-mythos-5', { thinking: 'adaptive', thinking_off: false }],
      ['anthropic.claude-mythos-preview', { thinking: 'adaptive', thinking_off: false }],
      ['claude-opus-5', { thinking: 'adaptive', thinking_off: true, forced_tool: true }],
    ],
  },
  [`${PLATFORM}/about-claude/models/whats-new-claude-4-6`]: {
    protocol: 'messages',
    cases: [
      ['claude-sonnet-4-5', { assistant_last: true }],
      ['claude-sonnet-4-6', { assistant_last: false }],
      ['anthropic/claude-opus-5.5', { assistant_last: false }],
    ],
  },
  [`${PLATFORM}/models/opus-5-5/whats-new-opus-5-5`]: {
    protocol: 'messages',
    cases: [
      ['claude-opus-5-5', { thinking: 'adaptive', thinking_off: false, forced_tool: false }],
      ['claude-sonnet-5-5', { thinking_off: false, forced_tool: false }],
      ['claude-haiku-5-5', { thinking_off: true, forced_tool: true }],
      ['anthropic/claude-fable-5.1', { thinking_off: false, forced_tool: false }],
    ],
  },
  [`${GOOGLE}/thought-signatures`]: {
    protocol: 'generate-content',
    cases: [
      ['gemini-2.5-pro', { unsigned_call: null }],
      ['gemini-3-flash-preview', { unsigned_call: 'skip_thought_signature_validator' }],
    ],
  },
  'https://github.com/google-gemini/gemini-cli/issues/19436': {
    protocol: 'generate-content',
    cases: [
      ['gemini-2.5-pro', { tool_result_media: false }],
      ['gemini-3-flash-preview', { tool_result_media: true }],
    ],
  },
  'https://github.com/googleapis/python-genai/issues/867': {
    protocol: 'generate-content',
    cases: [
      ['gemini-2.5-flash', { tools_with_output: false }],
      ['gemini-3-flash-preview', { tools_with_output: true }],
    ],
  },
  'https://github.com/vercel/ai/issues/8943': {
    protocol: 'generate-content',
    cases: [
      ['gemini-2.0-flash', { penalties: true }],
      ['gemini-2.5-flash', { penalties: false }],
      ['gemini-3-pro-preview', { penalties: false }],
    ],
  },
  'https://github.com/openai/openai-openapi/blob/main/openapi.json': {
    protocol: 'responses',
    cases: [
      ['gpt-4o', { name_length: 64, name_marks: '_-', name_any_start: true }],
      ['gpt-4.1', { max_tools: 128, max_stops: 4 }],
      ['o4-mini', { max_stops: 0 }],
      ['gpt-5-chat-latest', { max_stops: 4 }],
      ['llama-3.3-70b', { max_tools: null, max_stops: null }],
    ],
  },
  'https://github.com/huggingface/smolagents/issues/1671': {
    protocol: 'chat',
    cases: [['gpt-5-mini', { max_tools: 128, max_stops: 0 }]],
  },
  [`${PLATFORM}/agents-and-tools/tool-use/define-tools`]: {
    protocol: 'messages',
    cases: [['claude-haiku-4-5', { name_length: 128, name_marks: '_-', name_any_start: true }]],
  },
  'https://ai.google.dev/api/generate-content': {
    protocol: 'generate-content',
    cases: [['gemini-2.5-pro', { max_stops: 5, max_seed: 2_147_483_647 }]],
  },
  'https://ai.google.dev/api/caching': {
    protocol: 'generate-content',
    cases: [['gemini-2.5-pro', { name_length: 128, name_marks: '_.:-', name_any_start: false }]],
  },
  [`${OPENAI}/guides/safety-best-practices`]: {
    protocol: 'chat',
    cases: [['gpt-4o', { user_length: 64 }]],
  },
  'https://github.com/mistralai/mistral-common': {
    protocol: 'chat',
    cases: [
      'mistral-large-latest',
      'mistralai/Mistral-Small-3.2-24B-Instruct-2506',
      'open-mixtral-8x22b',
      'devstral-small-2:24b',
      'labs/ministral-14b-2512',
      'magistral-medium-2509',
      'codestral-latest',
      'mistral.pixtral-large-2502-v1:0',
      'mistralai/voxtral-mini',
      'mathstral:7b',
    ].map((model) => [model, { ...MISTRAL }]),
  },
  'https://huggingface.co/Qwen': {
    protocol: 'chat',
    cases: [
      ['Qwen/Qwen3.5-27B', { system_turns: false, consecutive_user_turns: true }],
      ['qwen3.6:27b', { system_turns: false }],
      ['qwen-3.8-plus', { system_turns: false }],
      ['qwen2.5-coder:32b', { system_turns: true }],
    ],
  },
  'https://huggingface.co/openai/gpt-oss-120b': {
    protocol: 'chat',
    cases: [['openai/gpt-oss-20b', { system_turns: false, system_texts: true }]],
  },
  'https://huggingface.co/google/gemma': {
    protocol: 'chat',
    cases: [
      ['google/gemma-4-31b-it', { consecutive_user_turns: false, assistant_first: false }],
      ['medgemma:27b', { consecutive_user_turns: false }],
    ],
  },
  'https://ai.google.dev/gemma/docs': {
    protocol: 'generate-content',
    cases: [
      ['models/gemma-3-27b-it', { system_texts: false }],
      ['gemma2:9b', { system_texts: false }],
      ['gemma-7b-it', { system_texts: false }],
      ['gemma-4-31b-it', { system_texts: true }],
      ['gemini-2.5-flash', { system_texts: true, consecutive_user_turns: true }],
    ],
  },
  'https://developers.openai.com/api/docs/guides/reasoning': {
    protocol: 'chat',
    cases: [
      ['gpt-5.4-mini', { thinking_unasked: false }],
      ['gpt-5.5-2026-04-23', { thinking_unasked: true }],
      ['gpt-5.5-chat-latest', { thinking: 'none', thinking_unasked: false }],
      ['gpt-6-luna', { thinking_unasked: true }],
    ],
  },
  'https://developers.openai.com/api/docs/models/gpt-5.6-sol': {
    protocol: 'responses',
    cases: [
      ['gpt-5.5', { efforts: ['none', 'low', 'medium', 'high', 'xhigh'] }],
      ['gpt-5.6-terra', { efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] }],
      ['openai/gpt-6-luna', { efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] }],
    ],
  },
  'https://developers.openai.com/api/docs/models/gpt-6-astra': {
    protocol: 'chat',
    cases: [
      ['gpt-6-astra', { efforts: ['low', 'medium', 'high', 'xhigh', 'max'], thinking_off: false }],
      ['gpt-6.2-astra', { thinking_off: false }],
    ],
  },
  'https://developers.openai.com/api/docs/guides/latest-model?model=gpt-6.1-sol': {
    protocol: 'responses',
    cases: [
      ['gpt-6-sol', { thinking_off: true }],
      ['gpt-6.1-sol', { efforts: ['low', 'medium', 'high', 'xhigh', 'max'], thinking_off: false }],
    ],
  },
  'https://docs.laozhang.ai/en/announcements/gpt-6-chat-tools-2026-11': {
    protocol: 'chat',
    cases: [['gpt-6.1-sol', { efforts: ['low', 'medium', 'high', 'xhigh'] }]],
  },
  'https://github.com/openai/openai-openapi/issues/541': {
    protocol: 'chat',
    cases: [['gpt-5.4', { tools_with_reasoning: null }]],
  },
  [`${GOOGLE}/openai`]: {
    protocol: 'chat',
    cases: [
      ['gemini-2.5-flash', { thinking_off: true }],
      ['gemini-2.5-pro', { thinking_off: false }],
      ['gemini-3-flash-preview', { thinking_off: false }],
    ],
  },
};

describe('what an upstream model takes', () => {
  for (const [page, { protocol, cases }] of Object.entries(PUBLISHED))
    it.each(cases)(`is what ${page} says of %s`, (model, takes) => {
      expect(capabilitiesOf(protocol, model)).toMatchObject(takes);
    });

  it(
    verifies('capabilities.table', 'stands in the table alone: no codec names a model of a vendor'),
    async () => {
      const folder = fileURLToPath(new URL('../../../src/protocols/', import.meta.url));
      const files = await readdir(folder, { recursive: true });
      const codecs = files.filter((file) => file.endsWith('.ts') && !/^capabilities\b/.test(file));
      expect(codecs.length).toBeGreaterThan(100);
      const writers: string[] = [];
      for (const file of codecs) {
        const text = await readFile(join(folder, file), 'utf8');
        expect(text, file).not.toMatch(/claude|opus|sonnet|haiku|gpt-|gemini-|\bo[134]-/i);
        if (text.includes('fitRequest(')) writers.push(file.split('/')[0]!);
      }
      expect(writers.sort()).toEqual(['chat', 'generate-content', 'messages', 'responses']);
    },
  );

  it(verifies('capabilities.table', 'names of every rule the page that proves it'), () => {
    const pages = Object.keys(PUBLISHED);
    for (const { source, vendor } of RULES) {
      expect(vendor).not.toBe('');
      expect(
        pages.some((page) => source.startsWith(page)),
        source,
      ).toBe(true);
    }
  });

  it('has no rule without an effect', () => {
    const models = Object.values(PUBLISHED).flatMap(({ cases }) => cases.map(([model]) => model));
    const seen = new Set(
      PROTOCOL_IDS.flatMap((protocol) =>
        models.flatMap((model) => Object.entries(capabilitiesOf(protocol, model)).map(String)),
      ),
    );
    for (const { takes, source } of RULES.filter(({ providers }) => !providers))
      for (const member of Object.entries(takes)) expect(seen, source).toContain(String(member));
  });

  it('gives way to what a route says', () => {
    const takes = capabilitiesOf('messages', 'claude-sonnet-4-5', { thinking: 'adaptive' });
    expect(takes).toMatchObject({ thinking: 'adaptive', min_budget: 1024 });
  });

  it(
    verifies('capabilities.tools-with-reasoning', 'is in a rule of a type of provider its own'),
    () => {
      const only = { tools_with_reasoning: 'responses' };
      for (const type of ['openai', 'azure-openai'])
        for (const model of ['gpt-5.4', 'gpt-5.6-sol', 'gpt-6-astra', 'gpt-6.1-terra'])
          expect(capabilitiesAt(type, model), `${type} ${model}`).toEqual(only);
      expect(capabilitiesAt('openai', 'gpt-5.3')).toEqual({});
      expect(capabilitiesAt('openai', 'gpt-4.1')).toEqual({});
      expect(capabilitiesAt('openrouter', 'openai/gpt-5.6-sol')).toEqual({});
      expect(capabilitiesAt('deepseek', 'deepseek-v4-flash')).toEqual({ forced_tool: false });
      expect(capabilitiesAt('openrouter', 'deepseek/deepseek-v4-pro')).toEqual({});
    },
  );

  it('is everything where a protocol has no rule', () => {
    expect(capabilitiesOf('embeddings', 'claude-opus-4-7')).toEqual(UNKNOWN);
  });
});
