module github.com/hookyard/hookyard-go

go 1.24
