import { list, object } from '../../canonical/unread-members.ts';

const MEDIA = {
  inlineData: object('mimeType data'),
  fileData: object('mimeType fileUri'),
};

const CONTENT = object('role', {
  parts: list(
    object('text thought thoughtSignature', {
      ...MEDIA,
      functionCall: object('id name args'),
      functionResponse: object('id name response', { parts: list(object('', MEDIA)) }),
    }),
  ),
});

/**
 * Shape of a request's members that are read; `model` is that of its address, in the body of older
 * clients.
 */
export const GENERATE_CONTENT_REQUEST = object('model', {
  contents: list(CONTENT),
  systemInstruction: CONTENT,
  tools: list(
    object('', {
      functionDeclarations: list(object('name description parameters parametersJsonSchema')),
    }),
  ),
  toolConfig: object('', { functionCallingConfig: object('mode allowedFunctionNames') }),
  generationConfig: object(
    'temperature topP topK maxOutputTokens seed presencePenalty frequencyPenalty candidateCount' +
      ' stopSequences responseMimeType responseSchema responseJsonSchema responseModalities' +
      ' responseLogprobs logprobs',
    { thinkingConfig: object('thinkingBudget thinkingLevel includeThoughts') },
  ),
});
