module hookyard/test/sdk

go 1.24

require hookyard/sdk/go v0.0.0

replace hookyard/sdk/go => ./sdk
