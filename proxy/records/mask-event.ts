import type { SecurityEvent } from '../contract/index.js';
import { maskBody, maskDetails, maskHeaders, maskText, maskUri, type MaskLevel } from '../masking/mask.js';

/** A security event as the audit log may keep it. */
export function maskEvent(event: SecurityEvent, level: MaskLevel): SecurityEvent {
  return {
    ...event,
    uri: maskUri(event.uri, level),
    requestHeaders: maskHeaders(event.requestHeaders, level),
    responseHeaders: maskHeaders(event.responseHeaders, level),
    requestBody: event.requestBody === null ? null : maskBody(event.requestBody, level),
    ...(event.secondOpinion == null ? {} : { secondOpinion: maskDetails(event.secondOpinion, level) }),
    messages: maskDetails(event.messages, level),
    error: event.error === null ? null : maskText(event.error, level),
  };
}
