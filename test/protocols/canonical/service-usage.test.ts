import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { usageOf } from '../../../src/protocols/chat/chat-usage.ts';
import { peekChat } from '../../../src/protocols/chat/chat-request.ts';
import {
  joinUsage,
  toGenerateContentUsage,
  usageOfContent,
} from '../../../src/protocols/generate-content/generate-content-usage.ts';
import { peekGenerateContent } from '../../../src/protocols/generate-content/generate-content-request.ts';
import { toInteractionUsage } from '../../../src/protocols/interactions/interactions-usage.ts';
import {
  joinMessagesUsage,
  toMessagesUsage,
} from '../../../src/protocols/messages/messages-usage.ts';
import { peekMessages } from '../../../src/protocols/messages/messages-request.ts';
import { usageOfResponse } from '../../../src/protocols/responses/responses-usage.ts';
import { peekResponses } from '../../../src/protocols/responses/responses-request.ts';
import { verifies } from '../../requirements.ts';

const body = (value: object): Buffer => Buffer.from(JSON.stringify(value));

describe('usage tells how a call was served', () => {
  it(
    verifies('limits.price.service', 'by the tier, speed and region that the answer names'),
    () => {
      const chat = { prompt_tokens: 1, completion_tokens: 1 };
      expect(usageOf({ usage: chat, service_tier: 'priority' })?.service).toEqual(['priority']);
      expect(usageOf({ usage: chat, service_tier: 'default' })?.service).toBeUndefined();
      const response = { usage: { input_tokens: 1, output_tokens: 1 }, service_tier: 'flex' };
      expect(usageOfResponse(response)?.service).toEqual(['flex']);
      const messages = {
        input_tokens: 1,
        service_tier: 'standard',
        speed: 'fast',
        inference_geo: 'us',
      };
      expect(toMessagesUsage(messages)?.service).toEqual(['fast', 'us']);
      const joined = joinMessagesUsage(messages, { output_tokens: 5 });
      expect(toMessagesUsage(joined)?.service).toEqual(['fast', 'us']);
      const google = (trafficType: string) =>
        toGenerateContentUsage({ promptTokenCount: 1, trafficType })?.service;
      expect(google('ON_DEMAND')).toBeUndefined();
      expect(google('ON_DEMAND_PRIORITY')).toEqual(['priority']);
      expect(google('PROVISIONED_THROUGHPUT')).toEqual(['provisioned_throughput']);
      const told = toGenerateContentUsage({ promptTokenCount: 1, serviceTier: 'FLEX' });
      expect(told?.service).toEqual(['flex']);
    },
  );
});

describe('usage tells kinds of tokens', () => {
  it(verifies('limits.price.media', 'in the details of each protocol'), () => {
    const chat = {
      prompt_tokens: 9,
      completion_tokens: 9,
      prompt_tokens_details: { audio_tokens: 5 },
      completion_tokens_details: { audio_tokens: 0, reasoning_tokens: 1 },
    };
    expect(usageOf({ usage: chat })?.media).toEqual({ inputAudio: 5 });
    const google = toGenerateContentUsage({
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 9,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 20 },
        { modality: 'AUDIO', tokenCount: 80 },
      ],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 30 }],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 9 }],
    });
    expect(google?.media).toEqual({ inputAudio: 50, cacheReadAudio: 30, outputImage: 9 });
    const interaction = toInteractionUsage({
      total_input_tokens: 9,
      input_tokens_by_modality: [{ modality: 'video', tokens: 7 }],
    });
    expect(interaction?.media).toEqual({ inputVideo: 7 });
  });
});

describe('usage tells uses of tools', () => {
  it(verifies('limits.price.tools', 'that the answer counts or holds'), () => {
    const searched = { input_tokens: 1, server_tool_use: { web_search_requests: 3 } };
    expect(toMessagesUsage(searched)?.tools).toEqual({ web_search: 3 });
    const usage = { input_tokens: 1, output_tokens: 1 };
    const output = [
      { type: 'web_search_call', action: { type: 'search' } },
      { type: 'web_search_call', action: { type: 'open_page' } },
      { type: 'file_search_call' },
      { type: 'code_interpreter_call', container_id: 'one' },
      { type: 'code_interpreter_call', container_id: 'one' },
      { type: 'image_generation_call' },
    ];
    const tools = [{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } }];
    expect(usageOfResponse({ usage, output, tools })?.tools).toEqual({
      web_search: 1,
      file_search: 1,
      code_execution: 4,
      image_generation: 1,
    });
    const counted = { ...usage, server_side_tool_usage_details: { x_search_calls: 2 } };
    expect(usageOfResponse({ usage: counted, output })?.tools).toEqual({ x_search: 2 });
    const interaction = {
      total_input_tokens: 1,
      grounding_tool_count: [{ type: 'google_search', count: 2 }],
    };
    expect(toInteractionUsage(interaction)?.tools).toEqual({ web_search: 2 });
  });

  it(
    verifies('limits.price.tools', 'that grounded an answer, told before its last part or in it'),
    () => {
      const usageMetadata = { promptTokenCount: 1 };
      const candidates = [{ groundingMetadata: { webSearchQueries: ['a', 'b'] } }];
      expect(usageOfContent({ usageMetadata, candidates })?.tools).toEqual({ web_search: 2 });
      const first = joinUsage(undefined, { usageMetadata, candidates });
      expect(joinUsage(first, { usageMetadata, candidates: [{}] })?.tools).toEqual({
        web_search: 2,
      });
      const maps = [{ groundingMetadata: { groundingChunks: [{ maps: { uri: 'x' } }] } }];
      expect(usageOfContent({ usageMetadata, candidates: maps })?.tools).toEqual({
        maps_search: 1,
      });
    },
  );
});

describe('a request asks for', () => {
  it(verifies('limits.price.reserved', 'ways of service and uses of tools'), () => {
    const chat = { model: 'm', messages: [] };
    expect(peekChat(body(chat)).asks).toBeUndefined();
    expect(peekChat(body({ ...chat, service_tier: 'priority' })).asks).toMatchObject({
      service: ['priority'],
    });
    expect(peekChat(body({ ...chat, service_tier: 'auto' })).asks).toMatchObject({
      anyService: true,
    });
    const responses = {
      model: 'm',
      input: 'x',
      max_tool_calls: 3,
      tools: [{ type: 'web_search' }],
    };
    expect(peekResponses(body(responses)).asks?.tools).toEqual({ web_search: 3 });
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 };
    const messages = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };
    expect(peekMessages(body({ ...messages, speed: 'fast', tools: [search] })).asks).toMatchObject({
      service: ['fast'],
      tools: { web_search: 5 },
    });
    const content = { contents: [{ parts: [{ text: 'x' }] }], tools: [{ googleSearch: {} }] };
    const google = peekGenerateContent(body(content), { model: 'm', operation: 'generateContent' });
    expect(google.asks?.tools).toEqual({ web_search: 10 });
  });
});
