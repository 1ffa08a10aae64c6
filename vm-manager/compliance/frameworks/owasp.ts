// OWASP Top 10 of 2021 and 2025: numbers and names of the lists, weaknesses by topic.
import type { FrameworkData } from '../topics.js';

export const owaspTop10: FrameworkData = {
  id: 'owasp-top-10',
  name: 'OWASP Top 10',
  version: '2021',
  controls: [
    ['A01', 'Broken access control', 'access', 'data'],
    ['A02', 'Cryptographic failures', 'crypto', 'tls', 'secrets'],
    ['A03', 'Injection', 'injection'],
    ['A04', 'Insecure design', 'logic', 'files', 'errors'],
    ['A05', 'Security misconfiguration', 'configuration', 'xml'],
    ['A06', 'Vulnerable and outdated components', 'components'],
    ['A07', 'Identification and authentication failures', 'authentication', 'passwords', 'sessions'],
    ['A08', 'Software and data integrity failures', 'integrity'],
    ['A09', 'Security logging and monitoring failures', 'audit', 'alerts'],
    ['A10', 'Server-side request forgery', 'ssrf'],
  ],
};

export const owaspTop10Of2025: FrameworkData = {
  id: 'owasp-top-10-2025',
  name: 'OWASP Top 10',
  version: '2025',
  controls: [
    ['A01', 'Broken access control', 'access', 'ssrf', 'data'],
    ['A02', 'Security misconfiguration', 'configuration', 'xml'],
    ['A03', 'Software supply chain failures', 'components'],
    ['A04', 'Cryptographic failures', 'crypto', 'tls'],
    ['A05', 'Injection', 'injection'],
    ['A06', 'Insecure design', 'logic', 'files'],
    ['A07', 'Authentication failures', 'authentication', 'passwords', 'sessions'],
    ['A08', 'Software or data integrity failures', 'integrity'],
    ['A09', 'Security logging and alerting failures', 'audit', 'alerts'],
    ['A10', 'Mishandling of exceptional conditions', 'errors', 'memory'],
  ],
};
