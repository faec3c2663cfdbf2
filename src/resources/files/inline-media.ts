import { isBase64 } from '../../core/base64.ts';
import { toMediaType, toStandardBase64 } from '../../protocols/media/data-source.ts';

/** Image types that all providers read. */
const COMMON_IMAGES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** Image types that one provider or another reads. */
const IMAGES: readonly string[] = [...COMMON_IMAGES, 'image/heic', 'image/heif'];

/** True for an image that every model can take, of any vendor. */
export function isCommonImage(mediaType: string): boolean {
  return COMMON_IMAGES.includes(toMediaType(mediaType));
}

/** True for an image that there are models for: its sender knows which of them is asked. */
export function isImage(mediaType: string): boolean {
  return IMAGES.includes(toMediaType(mediaType));
}

/** True for bytes in either alphabet of base64. */
export function isInlineData(data: string): boolean {
  return isBase64(toStandardBase64(data));
}

/** Says what {@link isImage} takes. */
export const IMAGE_FAULT = `must be one of ${IMAGES.join(', ')}`;
export const DATA_FAULT = 'must be base64 with its padding, and not empty';
