// English texts of a request that is shown as evidence (console/web/kit/evidence).
export const evidenceText = {
  reading: 'Looking for the request',
  notKept: 'It is not in the request log any more, or has not come yet.',
  client: 'Client',
  when: 'When',
  answer: 'Answer',
  site: 'Site',
  openEvent: 'Open the event in full',
  openRequest: 'Open in the request log',
  passed: 'no rule had anything to say of it',
} as const;
