"""mpgraph beside the tools that people use today: same models, same data, same measures."""
