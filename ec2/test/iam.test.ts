/** The evaluator against the rules and examples of the IAM User Guide. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluate, type Policy } from './iam.ts';

const ask = (statements: Policy['Statement'], action: string, resource = '*', context = {}) =>
  evaluate({ Statement: statements }, { action, resource, context });
const allow = { Effect: 'Allow', Resource: '*' };
const when = (Condition: object) => [{ ...allow, Action: 'ec2:*', Condition: Condition as never }];

describe('policy evaluation', () => {
  it('denies what no statement allows, and what one denies although another allows it', () => {
    assert.equal(ask([], 'ec2:RunInstances'), 'implicitly denied');
    assert.equal(ask([{ ...allow, Action: 's3:*' }], 'ec2:RunInstances'), 'implicitly denied');
    const both = [
      { ...allow, Action: '*' },
      { ...allow, Action: 'ec2:Run*', Effect: 'Deny' },
    ];
    assert.equal(ask(both, 'ec2:RunInstances'), 'explicitly denied');
    assert.equal(ask(both, 'ec2:StopInstances'), 'allowed');
    assert.equal(ask([{ ...allow, NotAction: 'iam:*' }], 'ec2:RunInstances'), 'allowed');
    assert.equal(ask([{ ...allow, NotAction: 'ec2:*' }], 'ec2:RunInstances'), 'implicitly denied');
  });

  it('compares actions without their case, and resources with it', () => {
    assert.equal(ask([{ ...allow, Action: 'EC2:runinstances' }], 'ec2:RunInstances'), 'allowed');
    const bucket = [{ ...allow, Action: 's3:*', Resource: 'arn:aws:s3:::sprites-*' }];
    assert.equal(ask(bucket, 's3:ListBucket', 'arn:aws:s3:::sprites-a'), 'allowed');
    assert.equal(ask(bucket, 's3:ListBucket', 'arn:aws:s3:::Sprites-a'), 'implicitly denied');
  });

  it('does not let a wildcard cross the parts of an ARN', () => {
    const images = [{ ...allow, Action: 'ec2:*', Resource: 'arn:aws:ec2:*::image/*' }];
    assert.equal(ask(images, 'ec2:RunInstances', 'arn:aws:ec2:eu-west-1::image/ami-1'), 'allowed');
    assert.equal(ask(images, 'ec2:RunInstances', 'arn:aws:ec2:eu-west-1:1234:image/ami-1'), 'implicitly denied');
    assert.equal(ask(images, 'ec2:RunInstances', 'arn:aws:ec2:eu-west-1:1::image/ami-1'), 'implicitly denied');
  });

  it('needs every key of every operator, and one of the values of a key', () => {
    const two = when({ StringEquals: { 'aws:RequestTag/a': ['1', '2'], 'aws:RequestTag/b': 'x' } });
    assert.equal(ask(two, 'ec2:A', '*', { 'aws:RequestTag/a': '2', 'AWS:requesttag/b': 'x' }), 'allowed');
    assert.equal(ask(two, 'ec2:A', '*', { 'aws:RequestTag/a': '3', 'aws:RequestTag/b': 'x' }), 'implicitly denied');
    assert.equal(ask(two, 'ec2:A', '*', { 'aws:RequestTag/a': '1' }), 'implicitly denied');
  });

  it('treats an absent key as the operator says', () => {
    const decisions = [
      { StringEquals: { 'aws:RequestTag/a': '1' } },
      { StringNotEquals: { 'aws:RequestTag/a': '1' } },
      { StringEqualsIfExists: { 'aws:RequestTag/a': '1' } },
      { Null: { 'aws:RequestTag/a': 'true' } },
      { Null: { 'aws:RequestTag/a': 'false' } },
      { 'ForAllValues:StringEquals': { 'aws:TagKeys': ['a'] } },
      { 'ForAnyValue:StringEquals': { 'aws:TagKeys': ['a'] } },
    ].map((condition) => ask(when(condition), 'ec2:A') === 'allowed');
    assert.deepEqual(decisions, [false, true, true, true, false, true, false]);
  });

  it('compares text, patterns and ARNs', () => {
    const of = (operator: string, wanted: string, found: string | string[]) =>
      ask(when({ [operator]: { key: wanted } }), 'ec2:A', '*', { key: found }) === 'allowed';
    assert.deepEqual([of('StringLike', 'a*c?', 'abbcd'), of('StringLike', 'a.c', 'abc')], [true, false]);
    assert.deepEqual([of('StringEquals', 'a*', 'ab'), of('StringNotLike', 'a*', 'ab')], [false, false]);
    assert.equal(of('StringEqualsIgnoreCase', 'AB', 'ab'), true);
    assert.equal(of('ArnLike', 'arn:aws:iam::*:role/x*', 'arn:aws:iam::1:role/xy'), true);
    assert.equal(of('ArnLike', 'arn:aws:iam:*:role/x', 'arn:aws:iam::1:role/x'), false);
    assert.equal(of('ForAllValues:StringEquals', 'a', ['a', 'b']), false);
    assert.equal(of('ForAnyValue:StringEquals', 'a', ['a', 'b']), true);
    assert.equal(of('Null', 'false', 'x'), true);
  });

  it('refuses to evaluate what it does not implement', () => {
    assert.throws(() => ask(when({ DateLessThan: { key: '2026' } }), 'ec2:A', '*', { key: '1' }), /DateLessThan/);
    assert.throws(() => ask([{ ...allow, Action: '*', Principal: '*' } as never], 'ec2:A'), /Principal/);
  });
});
