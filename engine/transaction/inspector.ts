// The one interface of both engines. A transaction goes begin → requestHeaders → requestBody → responseHeaders →
// responseBody → finish; phases may be left out from the end, `finish` runs exactly once (phase 5, then recycling).
import type { Interruption, RequestHead, ResponseHead, Transaction, TransactionEnvironment } from './transaction.js';
import type { Verdict } from './verdict.js';

export interface Inspector {
  begin(request: RequestHead, environment: TransactionEnvironment): Transaction;
  /** Phase 1. */
  requestHeaders(transaction: Transaction): Interruption | null;
  /** Processes the body (null = none or not read) and runs phase 2. `wireBytes` when more was sent than is given. */
  requestBody(transaction: Transaction, body: Buffer | null, wireBytes?: number): Interruption | null;
  /** Phase 3. */
  responseHeaders(transaction: Transaction, response: ResponseHead): Interruption | null;
  /** Phase 4; decoded (identity) bytes. */
  responseBody(transaction: Transaction, body: Buffer | null, wireBytes?: number): Interruption | null;
  /** True after responseHeaders when phase 4 wants the body: response body access is on and the MIME type is listed. */
  wantsResponseBody(transaction: Transaction): boolean;
  /** Phase 5; the transaction must not be used afterwards. */
  finish(transaction: Transaction): Verdict;
}
