// Directives of other engines that are harmless here, and those that are not.
import type { Directive } from './directive.js';
import { ignored, refused } from './values.js';

const files = 'nothing is written to disk while inspecting';
const debug = 'logging is a setting of the proxy';
const pcre = 'expressions run in linear time, so that there is no limit to set';
const hash = 'link hashing is not supported';
const server = 'it configures a web server, not a proxy';

export const acceptedDirectives: readonly Directive[] = [
  ...[
    'SecTmpDir',
    'SecDataDir',
    'SecUploadDir',
    'SecUploadFileMode',
    'SecUploadKeepFiles',
    'SecTmpSaveUploadedFiles',
  ].map((name) => ignored(name, files)),
  ...['SecDebugLog', 'SecDebugLogLevel'].map((name) => ignored(name, debug)),
  ...['SecPcreMatchLimit', 'SecPcreMatchLimitRecursion', 'SecRxPreFilter'].map((name) => ignored(name, pcre)),
  ...[
    'SecStatusEngine',
    'SecDisableBackendCompression',
    'SecContentInjection',
    'SecStreamInBodyInspection',
    'SecStreamOutBodyInspection',
    'SecInterceptOnError',
  ].map((name) => ignored(name, server)),
  ...[
    'SecReadStateLimit',
    'SecWriteStateLimit',
    'SecConnReadStateLimit',
    'SecConnWriteStateLimit',
    'SecConnEngine',
    'SecGuardianLog',
    'SecRuleInheritance',
    'SecRulePerfTime',
    'SecSensorId',
  ].map((name) => ignored(name, server)),
  ...[
    'SecCacheTransformations',
    'SecUnicodeCodePage',
    'SecRemoteRulesFailAction',
    'SecParseXmlIntoArgs',
    'SecCookieV0Separator',
  ].map((name) => ignored(name, 'there is nothing to set')),
];

export const refusedDirectives: readonly Directive[] = [
  refused('SecRuleScript', 'GH-C6001', 'it runs a Lua script for every request'),
  refused('SecRemoteRules', 'GH-C6002', 'it loads rules from the network'),
  refused('SecChrootDir', 'GH-C6003', 'the process is confined by the deployment'),
  refused('SecGeoLookupDb', 'GH-C6004', 'no geographic database is supported'),
  refused('SecGsbLookupDb', 'GH-C6004', 'the database no longer exists'),
  refused('SecHttpBlKey', 'GH-C6002', 'it asks a name server for every request'),
  ...['SecHashEngine', 'SecHashKey', 'SecHashParam', 'SecHashMethodRx', 'SecHashMethodPm'].map((name) =>
    refused(name, 'GH-C6004', hash),
  ),
];
