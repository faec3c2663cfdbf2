import type { ContentBlock } from '@agentclientprotocol/sdk';
import { RPC, RpcError } from '../json-rpc.ts';

type Block = ContentBlock & { readonly [member: string]: unknown };

/**
 * A prompt as the parts of a `user.message`.
 *
 * @throws RpcError `invalidParams` for a kind of content that `promptCapabilities` does not offer
 */
export function toContent(prompt: readonly { readonly type: string }[]): object[] {
  return prompt.map((block, index) => toPart(block as Block, `prompt[${index}]`));
}

function toPart(block: Block, path: string): object {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      return { type: 'image', source: toSource(block.mimeType, block.data) };
    case 'resource_link':
      return { type: 'text', text: `[${block.title ?? block.name}](${block.uri})` };
    case 'resource':
      return toDocument(block, path);
    case 'audio':
    default:
      throw new RpcError(RPC.invalidParams, `${path}: content of this type is not supported`);
  }
}

function toDocument({ resource }: Extract<Block, { type: 'resource' }>, path: string): object {
  if (typeof resource !== 'object' || resource === null)
    throw new RpcError(RPC.invalidParams, `${path}.resource: expected an object`);
  const { uri: title, mimeType } = resource;
  if ('text' in resource) {
    const source = { type: 'text', media_type: 'text/plain', data: resource.text };
    return { type: 'document', source, title };
  }
  const type = mimeType ?? 'application/octet-stream';
  const source = toSource(type, resource.blob);
  return type.startsWith('image/')
    ? { type: 'image', source }
    : { type: 'document', source, title };
}

function toSource(media_type: string, data: string): object {
  return { type: 'base64', media_type, data };
}
