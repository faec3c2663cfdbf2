import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import Anthropic0 from 'anthropic-0';
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1';
import { GoogleGenAI as GoogleGenAI2 } from 'genai-2';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { chatClient } from './chat-client.ts';
import type { ClientRow } from './client.ts';
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

/** Still in use; what they ask for is the same as in the versions behind them. */
export const OLDER_CLIENTS: readonly ClientRow[] = [
  chatClient('openai 6', OpenAI6 as unknown as typeof OpenAI),
  responsesClient('openai 6', OpenAI6 as unknown as typeof OpenAI),
  messagesClient('@anthropic-ai/sdk 0', Anthropic0 as unknown as typeof Anthropic),
  generateContentClient('@google/genai 2', GoogleGenAI2 as unknown as typeof GoogleGenAI),
  generateContentClient('@google/genai 1', GoogleGenAI1 as unknown as typeof GoogleGenAI),
];
