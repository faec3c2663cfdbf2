import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import Anthropic0 from 'anthropic-0';
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1';
import { GoogleGenAI as GoogleGenAI2 } from 'genai-2';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { aiSdkClient } from './ai-sdk-client.ts';
import { chatClient } from './chat-client.ts';
import type { ClientRow, Target } from './client.ts';
import { generateContentClient } from './generate-content-client.ts';
import { messagesClient } from './messages-client.ts';
import { responsesClient } from './responses-client.ts';

/** The libraries that are current. */
export const CLIENTS: readonly ClientRow[] = [
  chatClient('openai 7', OpenAI),
  responsesClient('openai 7', OpenAI),
  messagesClient('@anthropic-ai/sdk 1', Anthropic),
  generateContentClient('@google/genai 3', GoogleGenAI),
];

const [chat, responses, messages, generateContent] = CLIENTS as [
  ClientRow,
  ClientRow,
  ClientRow,
  ClientRow,
];
const below =
  (version: string) =>
  ({ url, key: apiKey }: Target) => ({ baseURL: `${url}${version}`, apiKey });
const openaiOf = (target: Target) => createOpenAI(below('/v1')(target));

/** Vercel's, which speaks the protocols through code of its own. */
export const AI_SDK_CLIENTS: readonly ClientRow[] = [
  aiSdkClient('@ai-sdk/openai 4', chat, (target, model) => openaiOf(target).chat(model)),
  aiSdkClient('@ai-sdk/openai 4', responses, (target, model) => openaiOf(target).responses(model)),
  aiSdkClient('@ai-sdk/anthropic 4', messages, (target, model) =>
    createAnthropic(below('/v1')(target))(model),
  ),
  aiSdkClient('@ai-sdk/google 4', generateContent, (target, model) =>
    createGoogle(below('/v1beta')(target))(model),
  ),
];

/** Still in use; what they ask for is the same as in the versions behind them. */
export const OLDER_CLIENTS: readonly ClientRow[] = [
  chatClient('openai 6', OpenAI6 as unknown as typeof OpenAI),
  responsesClient('openai 6', OpenAI6 as unknown as typeof OpenAI),
  messagesClient('@anthropic-ai/sdk 0', Anthropic0 as unknown as typeof Anthropic),
  generateContentClient('@google/genai 2', GoogleGenAI2 as unknown as typeof GoogleGenAI),
  generateContentClient('@google/genai 1', GoogleGenAI1 as unknown as typeof GoogleGenAI),
];
