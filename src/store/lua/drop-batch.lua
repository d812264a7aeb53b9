-- Takes a completed batch away that has no chunks any more. KEYS[1] key prefix; ARGV 1 batch
local p = KEYS[1]
local key = p .. 'batch:' .. ARGV[1]
if redis.call('ZSCORE', p .. 'batches:ended', ARGV[1]) == false then return 0 end
for _, field in ipairs(redis.call('HKEYS', key)) do
  local digest = string.match(field, '^b:(.*)$')
  if digest then let_blob_go(p, digest) end
end
redis.call('UNLINK', key, key .. ':log', key .. ':chunks', key .. ':followers')
redis.call('ZREM', p .. 'batches:ended', ARGV[1])
return 1
