module hookyard/test/sdk

go 1.24

require github.com/hookyard/hookyard-go v0.0.0

replace github.com/hookyard/hookyard-go => ./sdk
