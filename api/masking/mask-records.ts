// What must not be kept, taken out of what nodes send: one function for each kind of list. Pure, so that the API's
// thread and the masking thread run the same. `length`: the characters in question, which the time follows.
import { maskBody, maskDetails, maskHeaders, maskText, maskUri, type MaskLevel } from '#proxy/contract';

/** The members of records that hold clients' text. */
export interface MaskedRequest {
  readonly uri: string;
  readonly user_agent: string;
}
export interface MaskedEvent {
  readonly uri: string;
  readonly details: Record<string, unknown>;
}
export interface MaskedSample {
  readonly uri: string;
  readonly headers: string[];
  readonly body: string | null;
}

/** Lists of one kind each; an absent one is empty. */
export interface Masked {
  readonly requests: readonly MaskedRequest[];
  readonly events: readonly MaskedEvent[];
  readonly samples: readonly MaskedSample[];
}

export const nothingMasked: Masked = { requests: [], events: [], samples: [] };

/** The same lists in the same order; every other member of a record is left away. */
export function maskRecords({ requests, events, samples }: Masked, level: MaskLevel): Masked {
  return {
    requests: requests.map(({ uri, user_agent }) => ({
      uri: maskUri(uri, level),
      user_agent: maskText(user_agent, level),
    })),
    events: events.map(({ uri, details }) => ({ uri: maskUri(uri, level), details: maskDetails(details, level) })),
    samples: samples.map(({ uri, headers, body }) => ({
      uri: maskUri(uri, level),
      headers: maskHeaders(headers, level),
      body: body === null ? null : maskBody(body, level),
    })),
  };
}

/** Whether there are more characters than `charsMax`; stops counting there. Details count without their structure. */
export function isLongerThan({ requests, events, samples }: Masked, charsMax: number): boolean {
  let left = charsMax;
  const count = (value: unknown): void => {
    if (left < 0) return;
    if (typeof value === 'string') left -= value.length;
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) {
        left -= name.length + 1;
        count(member);
      }
  };
  for (const { uri, user_agent } of requests) left -= uri.length + user_agent.length;
  for (const { uri, details } of events) {
    left -= uri.length;
    count(details);
  }
  for (const { uri, headers, body } of samples) {
    left -= uri.length + (body?.length ?? 0);
    count(headers);
  }
  return left < 0;
}
