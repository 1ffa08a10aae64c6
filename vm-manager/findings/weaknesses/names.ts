// Names of weaknesses (CWE 4.x), for people who do not know the numbers. Those that tools report often, in short words
// of our own where the official name is a sentence; a weakness that is not here is shown by its number alone.

const table = `
20 Improper input validation
22 Path traversal
23 Relative path traversal
36 Absolute path traversal
59 Link following
73 External control of a file name or path
74 Injection
77 Command injection
78 OS command injection
79 Cross-site scripting
80 Basic cross-site scripting
88 Argument injection
89 SQL injection
90 LDAP injection
91 XML injection
93 CRLF injection
94 Code injection
95 Eval injection
96 Static code injection
98 File inclusion (PHP)
113 HTTP response splitting
116 Improper encoding or escaping of output
117 Log injection
119 Access outside the bounds of a buffer
120 Classic buffer overflow
121 Stack-based buffer overflow
122 Heap-based buffer overflow
125 Out-of-bounds read
129 Improper validation of an array index
131 Wrong calculation of a buffer size
134 Uncontrolled format string
190 Integer overflow
191 Integer underflow
200 Exposure of sensitive information
201 Sensitive information in sent data
203 Observable discrepancy
208 Observable timing discrepancy
209 Sensitive information in an error message
215 Sensitive information in debugging code
219 Sensitive data below the web root
242 Inherently dangerous function
248 Uncaught exception
250 Execution with unnecessary privileges
252 Unchecked return value
256 Password stored in plain text
257 Password stored in a recoverable form
259 Hard-coded password
266 Wrong privilege assignment
269 Improper privilege management
272 Least privilege violation
276 Wrong default permissions
280 Improper handling of missing privileges
284 Improper access control
285 Improper authorization
287 Improper authentication
288 Authentication bypass by another path
290 Authentication bypass by spoofing
294 Replay of captured authentication
295 Improper certificate validation
297 Certificate for another host accepted
300 Channel reachable by a third party
306 Missing authentication
307 No limit on authentication attempts
311 Missing encryption of sensitive data
312 Sensitive data stored in clear text
319 Sensitive data sent in clear text
321 Hard-coded cryptographic key
322 Key exchange without authentication
326 Weak encryption
327 Broken or risky cryptographic algorithm
328 Weak hash
329 Predictable initialization vector
330 Insufficiently random values
331 Insufficient entropy
338 Weak random number generator
345 Insufficient verification of authenticity
346 Origin not validated
347 Signature not verified properly
352 Cross-site request forgery
353 Missing integrity check
359 Exposure of personal data
362 Race condition
367 Time of check, time of use
369 Division by zero
377 Insecure temporary file
384 Session fixation
400 Uncontrolled resource consumption
401 Memory leak
404 Improper release of a resource
405 Amplification
409 Decompression bomb
415 Double free
416 Use after free
425 Forced browsing
426 Untrusted search path
427 Uncontrolled search path element
434 Upload of a dangerous file type
440 Behaviour other than expected
441 Unintended proxy
444 HTTP request smuggling
451 Misleading user interface
470 Unsafe reflection
471 Change of data assumed immutable
472 External control of a web parameter
476 Null pointer dereference
477 Obsolete function
489 Active debug code
494 Download of code without integrity check
501 Trust boundary violation
502 Deserialization of untrusted data
506 Embedded malicious code
521 Weak password requirements
522 Insufficiently protected credentials
523 Unprotected transport of credentials
524 Sensitive information in a cache
525 Sensitive information in the browser cache
532 Sensitive information in a log
538 Sensitive information in a file for others
539 Sensitive information in a persistent cookie
540 Sensitive information in source code
548 Directory listing
552 Files open to external parties
565 Trust in cookies without validation
598 Sensitive information in a query string
601 Open redirect
605 Several binds to one port
610 Externally controlled reference
611 XML external entity
613 Insufficient session expiration
614 Cookie without Secure
617 Reachable assertion
620 Password change without verification
624 Executable regular expression
639 Authorization by a key that users control
640 Weak password recovery
643 XPath injection
644 Script syntax in HTTP headers
648 Wrong use of privileged functions
650 Trust in the HTTP method
651 Sensitive information in a WSDL file
652 XQuery injection
668 Exposure to the wrong sphere
670 Control flow that is always wrong
672 Use after expiry or release
674 Uncontrolled recursion
676 Potentially dangerous function
682 Wrong calculation
693 Protection mechanism failure
697 Wrong comparison
704 Wrong type conversion
710 Departure from coding standards
730 Denial of service
732 Wrong permissions of a critical resource
749 Exposed dangerous method
754 Unusual conditions not checked
755 Exceptional conditions handled wrongly
759 Hash without salt
760 Hash with a predictable salt
770 Allocation without limits
776 XML entity expansion
778 Insufficient logging
787 Out-of-bounds write
789 Allocation of an excessive size
798 Hard-coded credentials
799 Frequency of interaction not controlled
829 Code from an untrusted sphere
830 Web functions from an untrusted source
834 Excessive iteration
835 Infinite loop
840 Business logic error
843 Type confusion
862 Missing authorization
863 Wrong authorization
908 Use of an uninitialized resource
913 Dynamically managed code not controlled
915 Mass assignment
916 Password hash with little effort
917 Expression language injection
918 Server-side request forgery
922 Insecure storage of sensitive information
923 Channel to an unintended endpoint
926 Exported Android component
927 Implicit intent
939 Custom URL scheme without authorization
940 Source of a channel not verified
942 Permissive cross-domain policy
943 Data query injection
1004 Cookie without HttpOnly
1021 Clickjacking
1104 Unmaintained third-party component
1188 Insecure default
1236 Formula injection (CSV)
1241 Predictable algorithm in a random number generator
1275 Cookie with improper SameSite
1321 Prototype pollution
1327 Bound to an unrestricted address
1333 Regular expression of exponential cost
1336 Template injection
1339 Real number of insufficient precision
1357 Insufficiently trustworthy component
1385 Origin of WebSockets not validated
1390 Weak authentication
1391 Weak credentials
1392 Default credentials
1393 Default password
1395 Vulnerable third-party component
`;

const names: ReadonlyMap<number, string> = new Map(
  [...table.matchAll(/^(\d+) (.+)$/gm)].map(([, number, name = '']) => [Number(number), name]),
);

/** Name of the weakness with the number (CWE-89: 89); null where this table has none. */
export const weaknessName = (number: number): string | null => names.get(number) ?? null;
