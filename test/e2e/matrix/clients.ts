import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
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
