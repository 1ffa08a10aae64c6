// Direct calls of eval, which see the variables around them: the sensor must leave that as it is.
'use strict';
exports.unsafe = (text) => {
  const rate = 2;
  return eval('rate * ' + text);
};
exports.safe = (text) => {
  const rate = 2;
  return eval('rate * ' + (Number(text) || 0));
};
// words in texts and comments are no calls: eval(x)
exports.words = 'eval(text) ' + /eval\(/.source;
exports.local = () => {
  const seven = 7;
  return eval('seven + 1');
};
