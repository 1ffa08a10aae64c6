// All rules of the secrets scanner, the more special ones first.
import type { Rule } from '../contract.js';
import type { Detector } from './detector.js';
import { generalRules } from './general-rules.js';
import { providerRules } from './provider-rules.js';

export const secretRules: readonly Detector[] = [...providerRules, ...generalRules];

export const keyStore: Rule = {
  id: 'open-key-store',
  version: 1,
  title: 'Key store without a password of its own',
  severity: 'critical',
  cwes: [321, 798],
  description: 'A PKCS#12 file with a private key opens with no password, or with one that everybody knows.',
  remediation: 'Revoke the certificate, make a new key, and keep it in a secret store.',
};
