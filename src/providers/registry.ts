import { anthropic } from './anthropic.ts';
import { azureOpenai } from './azure-openai.ts';
import { cohere } from './cohere.ts';
import { deepseek } from './deepseek.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { fireworks } from './fireworks.ts';
import { google } from './google.ts';
import { groq } from './groq.ts';
import { llamaCpp } from './local/llama-cpp.ts';
import { lmStudio } from './local/lm-studio.ts';
import { sglang } from './local/sglang.ts';
import { mistral } from './mistral.ts';
import { mock } from './mock/mock.ts';
import { ollama } from './ollama.ts';
import { custom } from './openai-compatible.ts';
import { openai } from './openai.ts';
import { openrouter } from './openrouter.ts';
import { together } from './together.ts';
import { vllm } from './vllm.ts';
import { xai } from './xai.ts';

/** Every kind of provider by id, which is the `type` of a provider resource. */
export const PROVIDERS: ReadonlyMap<string, ProviderDefinition> = new Map(
  [
    anthropic,
    azureOpenai,
    cohere,
    custom,
    deepseek,
    fireworks,
    google,
    groq,
    llamaCpp,
    lmStudio,
    mistral,
    mock,
    ollama,
    openai,
    openrouter,
    sglang,
    together,
    vllm,
    xai,
  ].map((definition) => [definition.id, definition]),
);
